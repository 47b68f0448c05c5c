"""XeGPU's scattered descriptors and updates through them: create_tdesc, update_offset, atomic_rmw."""

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.index_list import (
    Index,
    join,
    split,
)
from codegen.xe.dialects.kinds import (
    AtomicKind,
    AtomicKindAttr,
    verify_kind,
)
from codegen.xe.dialects.maps import format_ints
from codegen.xe.dialects.xegpu.layout import (
    LayoutAttr,
    SgMapAttr,
    SliceAttr,
)
from codegen.xe.dialects.xegpu.syntax import (
    parse_extras,
    parse_full_signature,
    parse_optional_indices,
    parse_signature,
    print_extras,
    print_optional_indices,
    print_types,
    print_values,
    resolve,
)
from codegen.xe.dialects.xegpu.types import TensorDescType
from codegen.xe.dialects.xegpu.verify import (
    fragments,
    verify_flat,
    verify_layout,
    verify_markers,
    verify_mask,
    verify_offset_vector,
    verify_scattered,
    verify_source,
    verify_value,
)


@irdl_op_definition
class CreateTdescOp(IRDLOperation):
    """Describe the elements, or chunks of elements, at `offsets` from a base, in elements.

    The offsets are one vector, or a list that mixes numbers and values of type index.
    """

    name = "xegpu.create_tdesc"
    source = operand_def()
    dynamic = var_operand_def()  # the vector of offsets; or the values among a list of offsets
    const_offsets = opt_prop_def(DenseArrayBase[IntegerType])
    result = result_def(TensorDescType)
    traits = traits_def(Pure())

    def __init__(
        self,
        source: SSAValue,
        offsets: SSAValue | Sequence[Index],
        result: Attribute,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        dynamic: list[SSAValue]
        properties: dict[str, Attribute] = {}
        if isinstance(offsets, SSAValue):
            dynamic = [offsets]
        else:
            dynamic, properties["const_offsets"] = split(offsets)
        super().__init__(
            operands=[source, dynamic], result_types=[result], properties=properties, attributes=attributes
        )

    @property
    def offsets(self) -> SSAValue | None:
        """The vector of offsets; None if they are a list."""
        return self.dynamic[0] if self.const_offsets is None else None

    @property
    def offset_list(self) -> tuple[Index, ...]:
        """The list of offsets; empty if they are a vector."""
        return join(iter(self.dynamic), self.const_offsets)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_optional_punctuation(",")  # the RFC has one here
        source = parser.parse_unresolved_operand()
        listed = parse_optional_indices(parser)
        operands = [source]
        if listed is None:
            parser.parse_punctuation(",")
            operands.append(parser.parse_unresolved_operand())
        attributes = parse_extras(parser).entries
        types, result = parse_full_signature(parser)
        values = resolve(parser, operands, types)
        return cls(values[0], values[1] if listed is None else listed, result, attributes)

    def print(self, printer: Printer) -> None:
        print_values(printer, self.source, self.offsets)
        print_optional_indices(printer, self.offset_list, self.const_offsets)
        printer.print_op_attributes(self.attributes)
        print_types(printer, self.source, self.offsets, result=self.result)

    def verify_(self) -> None:
        desc = verify_scattered(self, self.result)
        verify_source(self, self.source.type, desc)
        verify_flat(self, self.source.type)
        shape = desc.offsets_shape
        if self.offsets is not None:
            if len(self.dynamic) != 1:
                raise VerifyException(f"create_tdesc: expected one vector of offsets, got {len(self.dynamic)} values")
            verify_offset_vector(self, self.offsets.type, shape)
            return
        verify_markers(self, self.dynamic, self.const_offsets)
        if shape != (len(self.offset_list),):
            raise VerifyException(
                f"create_tdesc: expected offsets for {format_ints(shape)} elements, got {len(self.offset_list)}"
            )


@irdl_op_definition
class UpdateOffsetOp(IRDLOperation):
    """The scattered descriptor with elements moved by `offsets` elements, one offset each."""

    name = "xegpu.update_offset"
    desc = operand_def(TensorDescType)
    offsets = operand_def()
    result = result_def(TensorDescType)
    traits = traits_def(Pure())

    def __init__(self, desc: SSAValue, offsets: SSAValue, attributes: dict[str, Attribute] | None = None) -> None:
        super().__init__(operands=[desc, offsets], result_types=[desc.type], attributes=attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        desc = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        offsets = parser.parse_unresolved_operand()
        attributes = parse_extras(parser).entries
        types, _ = parse_signature(parser)
        return cls(*resolve(parser, [desc, offsets], types), attributes=attributes)

    def print(self, printer: Printer) -> None:
        print_values(printer, self.desc, self.offsets)
        printer.print_op_attributes(self.attributes)
        print_types(printer, self.desc, self.offsets)

    def verify_(self) -> None:
        desc = verify_scattered(self, self.desc)
        if self.result.type != desc:
            raise VerifyException(f"update_offset: expected a result {desc}, got {self.result.type}")
        verify_offset_vector(self, self.offsets.type, desc.offsets_shape)


@irdl_op_definition
class AtomicRmwOp(IRDLOperation):
    """Update the elements of a scattered descriptor, each atomically; the result is the old values."""

    name = "xegpu.atomic_rmw"
    tensor_desc = operand_def(TensorDescType)
    mask = operand_def()
    value = operand_def()
    kind = prop_def(AtomicKindAttr)
    layout = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    result = result_def()
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        kind: AtomicKind,
        tensor_desc: SSAValue,
        mask: SSAValue,
        value: SSAValue,
        properties: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(
            operands=[tensor_desc, mask, value],
            result_types=[value.type],
            properties={"kind": AtomicKindAttr(kind)} | (properties or {}),
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        word = parser.parse_identifier_or_str_literal("kind of atomic update")
        if word not in set(map(str, AtomicKind)):
            parser.raise_error(f"atomic_rmw: expected one of {', '.join(AtomicKind)}, got {word}")
        parser.parse_optional_punctuation(",")
        given = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        if len(given) != 3:
            parser.raise_error(f"atomic_rmw: expected a descriptor, a mask and a value, got {len(given)} operands")
        extras = parse_extras(parser)
        types, result = parse_signature(parser)
        first, second, third = resolve(parser, given, types)
        # MLIR has the value last, the RFC first.
        desc, mask, value = (
            (second, third, first) if isinstance(second.type, TensorDescType) else (first, second, third)
        )
        extras.entries["kind"] = AtomicKindAttr(AtomicKind(word))
        properties, attributes = extras.split(cls)
        operands, result_types = [desc, mask, value], [result or value.type]
        return cls.create(operands=operands, result_types=result_types, properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data.value}")
        print_values(printer, self.tensor_desc, self.mask, self.value)
        print_extras(printer, self, ("kind",))
        print_types(printer, self.tensor_desc, self.mask, self.value, result=self.result)

    def verify_(self) -> None:
        desc = verify_scattered(self, self.tensor_desc)
        verify_kind("atomic_rmw", self.kind.data, desc.element_type)
        parts = [] if desc.layout is None else list(fragments(desc.get_shape(), desc.layout))
        verify_mask(self, self.mask.type, (desc.get_shape(), desc.offsets_shape, *([(1,)] if parts else [])))
        verify_value(self, self.value.type, desc.element_type, (desc.get_shape(), *parts))
        if self.result.type != self.value.type:
            raise VerifyException(f"atomic_rmw: expected a result {self.value.type}, got {self.result.type}")
        verify_layout(self, "layout", self.layout, desc.get_shape())
