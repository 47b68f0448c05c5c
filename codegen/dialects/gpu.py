"""The part of MLIR's gpu dialect that XeTile files use, in its pretty syntax, which xDSL's own gpu dialect lacks."""

from collections.abc import Sequence
from enum import auto
from typing import Self

from xdsl.dialects.builtin import DenseArrayBase, FunctionType, IndexType, IntegerType, StringAttr, UnitAttr, i32
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import (
    IRDLOperation,
    attr_def,
    irdl_attr_definition,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    MemoryReadEffect,
    MemoryWriteEffect,
    NoTerminator,
    Pure,
    SymbolOpInterface,
    SymbolTable,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.str_enum import StrEnum


class Dimension(StrEnum):
    """A dimension of the grid."""

    X = auto()
    Y = auto()
    Z = auto()


@irdl_attr_definition
class DimensionAttr(EnumAttribute[Dimension], SpacedOpaqueSyntaxAttribute):
    """`#gpu<dim x>`."""

    name = "gpu.dim"


class _IdOp(IRDLOperation):
    dimension = prop_def(DimensionAttr)
    result = result_def(IndexType)
    traits = traits_def(Pure())

    def __init__(self, dimension: Dimension) -> None:
        super().__init__(result_types=[IndexType()], properties={"dimension": DimensionAttr(dimension)})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return cls(parser.parse_str_enum(Dimension))

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.dimension.data.value}")


@irdl_op_definition
class BlockIdOp(_IdOp):
    """Which work-group this is: `gpu.block_id x`."""

    name = "gpu.block_id"


@irdl_op_definition
class ThreadIdOp(_IdOp):
    """Which work-item of its work-group this is: `gpu.thread_id x`."""

    name = "gpu.thread_id"


@irdl_op_definition
class SubgroupIdOp(IRDLOperation):
    """Which sub-group of its work-group this is."""

    name = "gpu.subgroup_id"
    result = result_def(IndexType)
    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """All work-items of a work-group wait here; what they wrote before, all see after."""

    name = "gpu.barrier"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """End of a kernel."""

    name = "gpu.return"
    traits = traits_def(IsTerminator())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class ModuleOp(IRDLOperation):
    """Code for the device: `gpu.module @name { ... }`."""

    name = "gpu.module"
    sym_name = prop_def(StringAttr)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface(), SymbolTable())

    def __init__(
        self,
        name: str,
        body: Sequence[Operation] | Region,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        region = body if isinstance(body, Region) else Region(Block(body))
        super().__init__(properties={"sym_name": StringAttr(name)}, regions=[region], attributes=attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name().data
        attributes = parser.parse_optional_attr_dict_with_keyword()
        return cls(name, parser.parse_region(), dict(attributes.data) if attributes is not None else None)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A kernel, or a function of the device."""

    name = "gpu.func"
    sym_name = attr_def(StringAttr)  # MLIR keeps it among the attributes, not the properties
    function_type = prop_def(FunctionType)
    kernel = opt_prop_def(UnitAttr)
    known_block_size = opt_prop_def(DenseArrayBase[IntegerType])
    body = region_def()
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        body: Region,
        *,
        kernel: bool = True,
        known_block_size: DenseArrayBase[IntegerType] | tuple[int, int, int] | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        properties: dict[str, Attribute] = {
            "function_type": FunctionType.from_lists(body.blocks[0].arg_types, []),
        }
        if kernel:
            properties["kernel"] = UnitAttr()
        if isinstance(known_block_size, tuple):
            known_block_size = DenseArrayBase.from_list(i32, known_block_size)
        if known_block_size is not None:
            properties["known_block_size"] = known_block_size
        attributes = {"sym_name": StringAttr(name)} | (attributes or {})
        super().__init__(properties=properties, regions=[body], attributes=attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name().data
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        kernel = parser.parse_optional_keyword("kernel") is not None
        parsed = parser.parse_optional_attr_dict_with_keyword()
        attributes = dict(parsed.data) if parsed is not None else {}
        size = attributes.pop("known_block_size", None)
        if size is not None and not isa(size, DenseArrayBase[IntegerType]):
            parser.raise_error(f"gpu.func: expected known_block_size to be an array of integers, got {size}")
        region = parser.parse_region(arguments)
        return cls(name, region, kernel=kernel, known_block_size=size, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.body.blocks[0].args, printer.print_block_argument)
        if self.kernel is not None:
            printer.print_string(" kernel")
        size: dict[str, Attribute] = {}
        if self.known_block_size is not None:
            size["known_block_size"] = self.known_block_size
        attributes = size | self.attributes
        printer.print_op_attributes(attributes, reserved_attr_names=("sym_name",), print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    def verify_(self) -> None:
        inputs, arguments = tuple(self.function_type.inputs), tuple(self.body.blocks[0].arg_types)
        if inputs != arguments:
            raise VerifyException(
                f"gpu.func: expected arguments {list(map(str, inputs))}, got {list(map(str, arguments))}"
            )
        if self.kernel is not None and len(self.function_type.outputs):
            raise VerifyException(f"gpu.func: expected a kernel to return nothing, got {self.function_type.outputs}")
        if self.known_block_size is not None and len(self.known_block_size) != 3:
            raise VerifyException(
                f"gpu.func: expected three entries of known_block_size, got {len(self.known_block_size)}"
            )


Gpu = Dialect("gpu", [BlockIdOp, ThreadIdOp, SubgroupIdOp, BarrierOp, ReturnOp, ModuleOp, FuncOp], [DimensionAttr])
