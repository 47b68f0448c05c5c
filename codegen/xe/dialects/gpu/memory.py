"""The gpu dialect's host operations on device memory, and their asynchronous dependencies."""

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, UnitAttr
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    opt_result_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryAllocEffect, MemoryFreeEffect, MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.index_list import index


@irdl_attr_definition
class AsyncTokenType(ParametrizedAttribute, TypeAttribute):
    """Completion token of earlier work: `!gpu.async.token`."""

    name = "gpu.async.token"


def print_async(printer: Printer, token: SSAValue | None, dependencies: Sequence[SSAValue]) -> None:
    """Print `async [%a, %b]`."""
    if token is not None:
        printer.print_string(" async")
    if dependencies:
        printer.print_string(" ")
        with printer.in_square_brackets():
            printer.print_list(dependencies, printer.print_ssa_value)


def parse_async(parser: Parser) -> tuple[list[Attribute], list[SSAValue]]:
    """Parse `async [%a, %b]`; return the types of the token, and the dependencies."""
    token: list[Attribute] = [AsyncTokenType()] if parser.parse_optional_keyword("async") else []
    names = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)
    return token, [parser.resolve_operand(name, AsyncTokenType()) for name in names or ()]


@irdl_op_definition
class AllocOp(IRDLOperation):
    """Allocate device memory: `gpu.alloc host_shared () : memref<8x32xf16>`."""

    name = "gpu.alloc"
    dependencies = var_operand_def(AsyncTokenType)
    sizes = var_operand_def(IndexType)
    symbols = var_operand_def(IndexType)
    host_shared = opt_prop_def(UnitAttr, prop_name="hostShared")
    memref = result_def(MemRefType)
    token = opt_result_def(AsyncTokenType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryAllocEffect())

    def __init__(
        self,
        memref: Attribute,
        sizes: Sequence[SSAValue] = (),
        *,
        host_shared: bool = False,
        symbols: Sequence[SSAValue] = (),
        dependencies: Sequence[SSAValue] = (),
        token: Sequence[Attribute] = (),
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(
            operands=[dependencies, sizes, symbols],
            result_types=[memref, token],
            properties={"hostShared": UnitAttr()} if host_shared else {},
            attributes=attributes,
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        token, dependencies = parse_async(parser)
        host_shared = parser.parse_optional_keyword("host_shared") is not None
        sizes = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        symbols = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls(
            parser.parse_type(),
            [parser.resolve_operand(size, index) for size in sizes],
            host_shared=host_shared,
            symbols=[parser.resolve_operand(symbol, index) for symbol in symbols or ()],
            dependencies=dependencies,
            token=token,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        print_async(printer, self.token, self.dependencies)
        printer.print_string(" host_shared " if self.host_shared is not None else " ")
        with printer.in_parens():
            printer.print_list(self.sizes, printer.print_ssa_value)
        if self.symbols:
            with printer.in_square_brackets():
                printer.print_list(self.symbols, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.memref.type)

    def verify_(self) -> None:
        needed = self.memref.type.get_shape().count(DYNAMIC_INDEX)
        if len(self.sizes) != needed:
            raise VerifyException(f"gpu.alloc: expected {needed} sizes for {self.memref.type}, got {len(self.sizes)}")


class _MemoryOp(IRDLOperation):
    """Base of the operations on memory: `op async [%t] %a, %b : A, B`. Tokens are the first operands."""

    token = opt_result_def(AsyncTokenType)

    def __init__(
        self,
        values: Sequence[SSAValue],
        *,
        dependencies: Sequence[SSAValue] = (),
        token: Sequence[Attribute] = (),
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(operands=[dependencies, *values], result_types=[token], attributes=attributes)

    @property
    def values(self) -> Sequence[SSAValue]:
        """The operands that are not tokens."""
        return [v for v in self.operands if not isinstance(v.type, AsyncTokenType)]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        token, dependencies = parse_async(parser)
        at = parser.pos
        names = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        values = parser.resolve_operands(names, types, at)
        return cls(values, dependencies=dependencies, token=token, attributes=parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        print_async(printer, self.token, self.operands[: len(self.operands) - len(self.values)])
        printer.print_string(" ")
        printer.print_list(self.values, printer.print_ssa_value)
        printer.print_string(" : ")
        printer.print_list(self.values, lambda v: printer.print_attribute(v.type))
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class DeallocOp(_MemoryOp):
    """Free device memory."""

    name = "gpu.dealloc"
    dependencies = var_operand_def(AsyncTokenType)
    memref = operand_def(MemRefType)
    traits = traits_def(MemoryFreeEffect())


@irdl_op_definition
class MemcpyOp(_MemoryOp):
    """Copy between memories: destination, source."""

    name = "gpu.memcpy"
    dependencies = var_operand_def(AsyncTokenType)
    destination = operand_def(MemRefType)
    source = operand_def(MemRefType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


@irdl_op_definition
class MemsetOp(_MemoryOp):
    """Fill memory with a value."""

    name = "gpu.memset"
    dependencies = var_operand_def(AsyncTokenType)
    destination = operand_def(MemRefType)
    value = operand_def()
    traits = traits_def(MemoryWriteEffect())


@irdl_op_definition
class WaitOp(IRDLOperation):
    """Wait for tokens: `gpu.wait async [%a, %b]`."""

    name = "gpu.wait"
    dependencies = var_operand_def(AsyncTokenType)
    token = opt_result_def(AsyncTokenType)

    def __init__(self, dependencies: Sequence[SSAValue], token: Sequence[Attribute] = ()) -> None:
        super().__init__(operands=[dependencies], result_types=[token])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        token, dependencies = parse_async(parser)
        return cls(dependencies, token)

    def print(self, printer: Printer) -> None:
        print_async(printer, self.token, self.dependencies)
