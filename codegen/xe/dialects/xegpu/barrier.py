"""XeGPU's synchronisation: named barriers and fences."""

from typing import Self

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, i8, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.xegpu.memory import (
    FenceScope,
    FenceScopeAttr,
    MemorySpace,
    MemorySpaceAttr,
    parse_fence_scope,
    parse_memory_space,
)
from codegen.xe.dialects.xegpu.syntax import (
    parse_extras,
    parse_full_signature,
    parse_signature,
    parse_type,
    print_types,
    print_values,
    resolve,
)
from codegen.xe.dialects.xegpu.types import NbarrierType

MAX_BARRIERS = 32
"""Named barriers of an Xe core. Source: XeGPU dialect, alloc_nbarrier."""

_FENCE_KEYS = {"memory_kind": "memory_kind", "fence_scope": "fence_scope", "scope": "fence_scope"}


@irdl_op_definition
class AllocNbarrierOp(IRDLOperation):
    """Allocate the named barriers of a work-group; the number is an attribute, in the RFC an operand."""

    name = "xegpu.alloc_nbarrier"
    count = opt_operand_def()
    nbarrier_num = opt_prop_def(IntegerAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, count: int | SSAValue, attributes: dict[str, Attribute] | None = None) -> None:
        number = isinstance(count, int)
        super().__init__(
            operands=[None if number else count],
            properties={"nbarrier_num": IntegerAttr(count, i64)} if number else {},
            attributes=attributes,
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_optional_unresolved_operand()
        number = parser.parse_integer() if operand is None else 0
        attributes = parse_extras(parser).entries
        if operand is None:
            return cls(number, attributes)
        types, _ = parse_signature(parser)
        return cls(parser.resolve_operand(operand, types[0]), attributes)

    def print(self, printer: Printer) -> None:
        if self.nbarrier_num is not None:
            printer.print_string(f" {self.nbarrier_num.value.data}")
        if self.count is not None:
            print_values(printer, self.count)
        printer.print_op_attributes(self.attributes)
        if self.count is not None:
            print_types(printer, self.count)

    def verify_(self) -> None:
        if (self.count is None) == (self.nbarrier_num is None):
            raise VerifyException("alloc_nbarrier: expected a number of barriers, as an attribute or as an operand")
        if self.count is not None and not isinstance(self.count.type, IntegerType | IndexType):
            raise VerifyException(f"alloc_nbarrier: expected an integer, got {self.count.type}")
        number = self.nbarrier_num.value.data if self.nbarrier_num is not None else constant(self.count)
        if number is not None and not 1 <= number <= MAX_BARRIERS:
            raise VerifyException(f"alloc_nbarrier: expected 1 to {MAX_BARRIERS} barriers, got {number}")


@irdl_op_definition
class InitNbarrierOp(IRDLOperation):
    """Bind the sub-group to a named barrier with a number of participating sub-groups."""

    name = "xegpu.init_nbarrier"
    nbarrier_id = operand_def(i8)
    participant_thread_num = operand_def(i8)
    result = result_def(NbarrierType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self, nbarrier_id: SSAValue, participant_thread_num: SSAValue, attributes: dict[str, Attribute] | None = None
    ) -> None:
        super().__init__(
            operands=[nbarrier_id, participant_thread_num], result_types=[NbarrierType()], attributes=attributes
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        if len(operands) != 2:
            parser.raise_error(
                f"init_nbarrier: expected an id and a number of participants, got {len(operands)} operands"
            )
        attributes = parse_extras(parser).entries
        types, _ = parse_full_signature(parser)
        return cls(*resolve(parser, operands, types), attributes=attributes)

    def print(self, printer: Printer) -> None:
        print_values(printer, self.nbarrier_id, self.participant_thread_num)
        printer.print_op_attributes(self.attributes)
        print_types(printer, self.nbarrier_id, self.participant_thread_num, result=self.result)

    def verify_(self) -> None:
        number = constant(self.nbarrier_id)
        if number is not None and not 0 <= number < MAX_BARRIERS:
            raise VerifyException(f"init_nbarrier: expected an id of 0 to {MAX_BARRIERS - 1}, got {number}")


@irdl_op_definition
class NbarrierArriveOp(IRDLOperation):
    """Signal the arrival of the sub-group at a named barrier."""

    name = "xegpu.nbarrier_arrive"
    nbarrier = operand_def(NbarrierType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, nbarrier: SSAValue, attributes: dict[str, Attribute] | None = None) -> None:
        super().__init__(operands=[nbarrier], attributes=attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return cls(*_parse_nbarrier(parser))

    def print(self, printer: Printer) -> None:
        print_values(printer, self.nbarrier)
        printer.print_op_attributes(self.attributes)
        print_types(printer, self.nbarrier)


@irdl_op_definition
class NbarrierWaitOp(IRDLOperation):
    """Wait until every sub-group of a named barrier has arrived."""

    name = "xegpu.nbarrier_wait"
    nbarrier = operand_def(NbarrierType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, nbarrier: SSAValue, attributes: dict[str, Attribute] | None = None) -> None:
        super().__init__(operands=[nbarrier], attributes=attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return cls(*_parse_nbarrier(parser))

    def print(self, printer: Printer) -> None:
        print_values(printer, self.nbarrier)
        printer.print_op_attributes(self.attributes)
        print_types(printer, self.nbarrier)


@irdl_op_definition
class FenceOp(IRDLOperation):
    """Order the accesses to a memory before and after it, at work-group or device scope."""

    name = "xegpu.fence"
    memory_kind = prop_def(MemorySpaceAttr)
    fence_scope = prop_def(FenceScopeAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self, memory_kind: MemorySpace, fence_scope: FenceScope, attributes: dict[str, Attribute] | None = None
    ) -> None:
        super().__init__(
            properties={"memory_kind": MemorySpaceAttr(memory_kind), "fence_scope": FenceScopeAttr(fence_scope)},
            attributes=attributes,
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        found: dict[str, MemorySpace | FenceScope] = {}
        in_braces = parser.parse_optional_punctuation("{") is not None
        while (key := parser.parse_optional_keyword_in(tuple(_FENCE_KEYS))) is not None:
            parser.parse_punctuation("=")
            key = _FENCE_KEYS[key]
            found[key] = parse_memory_space(parser) if key == "memory_kind" else parse_fence_scope(parser)
            parser.parse_optional_punctuation(",")
        if in_braces:
            parser.parse_punctuation("}")
        kind, scope = found.get("memory_kind"), found.get("fence_scope")
        if not isinstance(kind, MemorySpace) or not isinstance(scope, FenceScope):
            parser.raise_error(f"fence: expected memory_kind and fence_scope, got {', '.join(found) or 'neither'}")
        return cls(kind, scope, parse_extras(parser).entries)

    def print(self, printer: Printer) -> None:
        kind, scope = self.memory_kind.data.value, self.fence_scope.data.value
        printer.print_string(f" memory_kind = {kind}, fence_scope = {scope}")
        printer.print_op_attributes(self.attributes)


def constant(value: SSAValue | None) -> int | None:
    """Return the number of a constant value, else None."""
    owner = value.owner if value is not None else None
    number = owner.value if isinstance(owner, arith.ConstantOp) else None
    return number.value.data if isinstance(number, IntegerAttr) else None


def _parse_nbarrier(parser: Parser) -> tuple[SSAValue, dict[str, Attribute]]:
    """Parse `%barrier : !xegpu.nbarrier`; the RFC omits the type."""
    operand = parser.parse_unresolved_operand()
    attributes = parse_extras(parser).entries
    if parser.parse_optional_punctuation(":"):
        parse_type(parser)
    return parser.resolve_operand(operand, NbarrierType()), attributes
