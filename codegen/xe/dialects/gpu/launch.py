"""The gpu dialect's host operations that launch kernels."""

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import IndexType, IntegerType, SymbolRefAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_result_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.gpu.memory import (
    AsyncTokenType,
    parse_async,
    print_async,
)
from codegen.xe.dialects.index_list import index


def _parse_extents(parser: Parser, *words: str) -> list[SSAValue]:
    for word in words:
        parser.parse_keyword(word)
    names = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
    if len(names) != 3:
        parser.raise_error(f"expected three sizes, got {len(names)}")
    return [parser.resolve_operand(name, index) for name in names]


def _print_extents(printer: Printer, words: str, values: Sequence[SSAValue]) -> None:
    printer.print_string(f" {words} ")
    with printer.in_parens():
        printer.print_list(values, printer.print_ssa_value)


@irdl_op_definition
class LaunchFuncOp(IRDLOperation):
    """Launch a kernel: `gpu.launch_func @module::@kernel blocks in (...) threads in (...) args(...)`."""

    name = "gpu.launch_func"
    kernel = prop_def(SymbolRefAttr)
    dependencies = var_operand_def(AsyncTokenType)
    grid_x = operand_def(IndexType)
    grid_y = operand_def(IndexType)
    grid_z = operand_def(IndexType)
    block_x = operand_def(IndexType)
    block_y = operand_def(IndexType)
    block_z = operand_def(IndexType)
    cluster_x = opt_operand_def(IndexType)
    cluster_y = opt_operand_def(IndexType)
    cluster_z = opt_operand_def(IndexType)
    shared_bytes = opt_operand_def(IntegerType(32))
    arguments = var_operand_def()
    stream = opt_operand_def()
    token = opt_result_def(AsyncTokenType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        kernel: SymbolRefAttr,
        grid: Sequence[SSAValue],
        block: Sequence[SSAValue],
        arguments: Sequence[SSAValue],
        *,
        dependencies: Sequence[SSAValue] = (),
        token: Sequence[Attribute] = (),
        shared_bytes: SSAValue | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(
            operands=[dependencies, *grid, *block, None, None, None, shared_bytes, arguments, None],
            result_types=[token],
            properties={"kernel": kernel},
            attributes=attributes,
        )

    @property
    def grid(self) -> tuple[SSAValue, SSAValue, SSAValue]:
        """Work-groups in each dimension."""
        return self.grid_x, self.grid_y, self.grid_z

    @property
    def block(self) -> tuple[SSAValue, SSAValue, SSAValue]:
        """Work-items of a work-group in each dimension."""
        return self.block_x, self.block_y, self.block_z

    @property
    def module_name(self) -> str:
        """Name of the kernel's gpu.module."""
        return self.kernel.root_reference.data

    @property
    def kernel_name(self) -> str:
        """Name of the kernel."""
        return self.kernel.nested_references.data[-1].data

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        token, dependencies = parse_async(parser)
        kernel = parser.parse_attribute()
        if not isinstance(kernel, SymbolRefAttr):
            parser.raise_error(f"gpu.launch_func: expected @module::@kernel, got {kernel}")
        grid = _parse_extents(parser, "blocks", "in")
        block = _parse_extents(parser, "threads", "in")
        shared = None
        if parser.parse_optional_keyword("dynamic_shared_memory_size"):
            shared = parser.resolve_operand(parser.parse_unresolved_operand(), IntegerType(32))
        arguments: Sequence[SSAValue] = ()
        if parser.parse_optional_keyword("args"):
            arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_typed(parser))
        return cls(
            kernel,
            grid,
            block,
            arguments,
            dependencies=dependencies,
            token=token,
            shared_bytes=shared,
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        print_async(printer, self.token, self.dependencies)
        printer.print_string(" ")
        printer.print_attribute(self.kernel)
        _print_extents(printer, "blocks in", self.grid)
        _print_extents(printer, "threads in", self.block)
        if self.shared_bytes is not None:
            printer.print_string(" dynamic_shared_memory_size ")
            printer.print_ssa_value(self.shared_bytes)
        if self.arguments:
            printer.print_string(" args")
            with printer.in_parens():
                printer.print_list(self.arguments, lambda v: _print_typed(printer, v))
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if len(self.kernel.nested_references) != 1:
            raise VerifyException(f"gpu.launch_func: expected @module::@kernel, got {self.kernel}")


def _parse_typed(parser: Parser) -> SSAValue:
    name = parser.parse_unresolved_operand()
    parser.parse_punctuation(":")
    return parser.resolve_operand(name, parser.parse_type())


def _print_typed(printer: Printer, value: SSAValue) -> None:
    printer.print_ssa_value(value)
    printer.print_string(" : ")
    printer.print_attribute(value.type)


@irdl_op_definition
class TerminatorOp(IRDLOperation):
    """End of the region of a gpu.launch."""

    name = "gpu.terminator"
    traits = traits_def(IsTerminator())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """An inline kernel launch; the arguments of its block are ids and sizes of blocks and threads."""

    name = "gpu.launch"
    dependencies = var_operand_def(AsyncTokenType)
    grid_x = operand_def(IndexType)
    grid_y = operand_def(IndexType)
    grid_z = operand_def(IndexType)
    block_x = operand_def(IndexType)
    block_y = operand_def(IndexType)
    block_z = operand_def(IndexType)
    cluster_x = opt_operand_def(IndexType)
    cluster_y = opt_operand_def(IndexType)
    cluster_z = opt_operand_def(IndexType)
    shared_bytes = opt_operand_def(IntegerType(32))
    stream = opt_operand_def()
    token = opt_result_def(AsyncTokenType)
    body = region_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        grid: Sequence[SSAValue],
        block: Sequence[SSAValue],
        body: Region,
        *,
        dependencies: Sequence[SSAValue] = (),
        token: Sequence[Attribute] = (),
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(
            operands=[dependencies, *grid, *block, None, None, None, None, None],
            result_types=[token],
            regions=[body],
            attributes=attributes,
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        token, dependencies = parse_async(parser)
        block_ids, grid_names, grid = _parse_places(parser, "blocks")
        thread_ids, block_names, block = _parse_places(parser, "threads")
        names = [*block_ids, *thread_ids, *grid_names, *block_names]
        body = parser.parse_region([name.resolve(index) for name in names])
        return cls(
            grid,
            block,
            body,
            dependencies=dependencies,
            token=token,
            attributes=parser.parse_optional_attr_dict(),
        )

    def print(self, printer: Printer) -> None:
        print_async(printer, self.token, self.dependencies)
        args = self.body.blocks[0].args
        _print_places(printer, "blocks", args[0:3], args[6:9], (self.grid_x, self.grid_y, self.grid_z))
        _print_places(printer, "threads", args[3:6], args[9:12], (self.block_x, self.block_y, self.block_z))
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        types = list(self.body.blocks[0].arg_types)
        if types != [index] * 12:
            raise VerifyException(f"gpu.launch: expected 12 arguments of type index, got {list(map(str, types))}")


def _parse_places(
    parser: Parser, word: str
) -> tuple[list[Parser.UnresolvedArgument], list[Parser.UnresolvedArgument], list[SSAValue]]:
    """Parse `blocks(%x, %y, %z) in (%sx = %a, %sy = %b, %sz = %c)`: the ids, the sizes, and the sizes' values."""

    def parse_name() -> Parser.UnresolvedArgument:
        return parser.parse_argument(expect_type=False)

    sizes: list[UnresolvedOperand] = []

    def parse_size() -> Parser.UnresolvedArgument:
        name = parse_name()
        parser.parse_punctuation("=")
        sizes.append(parser.parse_unresolved_operand())
        return name

    parser.parse_keyword(word)
    ids = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_name)
    parser.parse_keyword("in")
    names = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_size)
    if len(ids) != 3 or len(names) != 3:
        parser.raise_error(f"gpu.launch: expected three {word}, got {len(ids)} and {len(names)}")
    return ids, names, [parser.resolve_operand(size, index) for size in sizes]


def _print_places(
    printer: Printer, word: str, ids: Sequence[SSAValue], names: Sequence[SSAValue], sizes: Sequence[SSAValue]
) -> None:
    printer.print_string(f" {word}")
    with printer.in_parens():
        printer.print_list(ids, printer.print_ssa_value)
    printer.print_string(" in ")
    with printer.in_parens():
        for number, (name, size) in enumerate(zip(names, sizes, strict=True)):
            printer.print_string(", " if number else "")
            printer.print_ssa_value(name)
            printer.print_string(" = ")
            printer.print_ssa_value(size)
