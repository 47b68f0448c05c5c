"""The gpu dialect's operations of a work-item: ids and sizes, barriers and shuffles."""

from enum import auto
from functools import cache
from typing import ClassVar, Self

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, i1, i32
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.str_enum import StrEnum

from codegen.xe.dialects.creation import initialise
from codegen.xe.dialects.interned import index


class Dimension(StrEnum):
    """A dimension of the grid."""

    X = auto()
    Y = auto()
    Z = auto()


@irdl_attr_definition
class DimensionAttr(EnumAttribute[Dimension], SpacedOpaqueSyntaxAttribute):
    """`#gpu<dim x>`."""

    name = "gpu.dim"


@cache
def _dimension(dimension: Dimension) -> DimensionAttr:
    return DimensionAttr(dimension)


class _IdOp(IRDLOperation):
    dimension = prop_def(DimensionAttr)
    upper_bound = opt_prop_def(IntegerAttr[IndexType])
    result = result_def(IndexType)
    traits = traits_def(Pure())

    def __init__(self, dimension: Dimension, upper_bound: IntegerAttr[IndexType] | None = None) -> None:
        initialise(self, (), (index,), {"dimension": _dimension(dimension), "upper_bound": upper_bound})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return cls(parser.parse_str_enum(Dimension), _parse_upper_bound(parser))

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.dimension.data.value}")
        _print_upper_bound(printer, self.upper_bound)


@irdl_op_definition
class BlockIdOp(_IdOp):
    """Id of the work-group in the grid: `gpu.block_id x`."""

    name = "gpu.block_id"


@irdl_op_definition
class ThreadIdOp(_IdOp):
    """Id of the work-item in its work-group: `gpu.thread_id x`."""

    name = "gpu.thread_id"


@irdl_op_definition
class GlobalIdOp(_IdOp):
    """Id of the work-item in the grid: `gpu.global_id x`."""

    name = "gpu.global_id"


@irdl_op_definition
class BlockDimOp(_IdOp):
    """Number of work-items of a work-group: `gpu.block_dim x`."""

    name = "gpu.block_dim"


@irdl_op_definition
class GridDimOp(_IdOp):
    """Number of work-groups of the grid: `gpu.grid_dim x`."""

    name = "gpu.grid_dim"


class _SubgroupOp(IRDLOperation):
    upper_bound = opt_prop_def(IntegerAttr[IndexType])
    result = result_def(IndexType)
    traits = traits_def(Pure())

    def __init__(self, upper_bound: IntegerAttr[IndexType] | None = None) -> None:
        super().__init__(result_types=[index], properties={"upper_bound": upper_bound})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        upper_bound = _parse_upper_bound(parser)
        if parser.parse_optional_punctuation(":") and (given := parser.parse_type()) != IndexType():
            parser.raise_error(f"{cls.name}: expected a result of type index, got {given}")
        return cls(upper_bound)

    def print(self, printer: Printer) -> None:
        _print_upper_bound(printer, self.upper_bound)
        printer.print_string(" : index")


@irdl_op_definition
class SubgroupIdOp(_SubgroupOp):
    """Id of the sub-group in its work-group."""

    name = "gpu.subgroup_id"


@irdl_op_definition
class NumSubgroupsOp(_SubgroupOp):
    """Number of sub-groups of a work-group."""

    name = "gpu.num_subgroups"


@irdl_op_definition
class SubgroupSizeOp(_SubgroupOp):
    """Number of work-items of a sub-group."""

    name = "gpu.subgroup_size"


@irdl_op_definition
class LaneIdOp(_SubgroupOp):
    """Id of the work-item in its sub-group."""

    name = "gpu.lane_id"

    def print(self, printer: Printer) -> None:
        _print_upper_bound(printer, self.upper_bound)


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """Barrier of a work-group: writes before it are visible to all its work-items after it."""

    name = "gpu.barrier"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


class ShuffleMode(StrEnum):
    """Source work-item of a shuffle: the own id xor, plus or minus the offset, or the offset as id."""

    XOR = auto()
    UP = auto()
    DOWN = auto()
    IDX = auto()


@irdl_attr_definition
class ShuffleModeAttr(EnumAttribute[ShuffleMode], SpacedOpaqueSyntaxAttribute):
    """`#gpu<shuffle_mode xor>`."""

    name = "gpu.shuffle_mode"


_MODES = {mode: ShuffleModeAttr(mode) for mode in ShuffleMode}


@irdl_op_definition
class ShuffleOp(IRDLOperation):
    """The value of another work-item of the sub-group, and whether that work-item exists."""

    name = "gpu.shuffle"
    VALUE: ClassVar = VarConstraint("VALUE", AnyAttr())
    value = operand_def(VALUE)
    offset = operand_def(IntegerType(32))
    width = operand_def(IntegerType(32))
    mode = prop_def(ShuffleModeAttr)
    shuffle_result = result_def(VALUE)
    valid = result_def(IntegerType(1))
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())  # all work-items take part: it must not be moved

    def __init__(self, mode: ShuffleMode, value: SSAValue, offset: SSAValue, width: SSAValue) -> None:
        initialise(self, (value, offset, width), (value.type, i1), {"mode": _MODES[mode]})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        mode = parser.parse_str_enum(ShuffleMode)
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        offset = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        width = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        return cls(
            mode,
            parser.resolve_operand(value, parser.parse_type()),
            parser.resolve_operand(offset, i32),
            parser.resolve_operand(width, i32),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.mode.data.value} ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)


def _parse_upper_bound(parser: Parser) -> IntegerAttr[IndexType] | None:
    if parser.parse_optional_keyword("upper_bound") is None:
        return None
    return IntegerAttr.from_index_int_value(parser.parse_integer())


def _print_upper_bound(printer: Printer, upper_bound: IntegerAttr[IndexType] | None) -> None:
    if upper_bound is not None:
        printer.print_string(f" upper_bound {upper_bound.value.data}")
