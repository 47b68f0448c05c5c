"""Moves a value between sub-groups through shared local memory: all write their parts, a barrier, all read."""

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from typing import cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, VectorType, i1, i8, i64
from xdsl.ir import Attribute, Operation, SSAValue

from codegen.xe.dialects.gpu import BarrierOp
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.arith_casts import (
    ExtUIOp,
    IndexCastOp,
    TruncIOp,
)
from codegen.xe.dialects.xegpu import (
    LoadMatrixOp,
    StoreMatrixOp,
)
from codegen.xe.dialects.xegpu.types import bytes_of
from codegen.xe.passes.distribute.rule import (
    range_around,
    refuse,
)
from codegen.xe.passes.distribute.work import (
    Work,
    conditional,
)

_IDS = ("gpu.subgroup_id", "gpu.thread_id", "gpu.lane_id", "gpu.global_id")


class Exchange:
    """A value of some shape in shared local memory, row-major, with its leading dimensions stacked."""

    def __init__(self, work: Work, shape: Ints, element: Attribute, op: Operation) -> None:
        """Allocate the memory at `op`.

        Raises:
            PassFailedException: not every sub-group reaches `op`.
        """
        verify_all_come_here(op)
        self._work, self._shape, self.element = work, shape, element
        columns = shape[-1] if shape else 1
        self._stored = _storage_type(element)
        self._matrix = work.buffers.matrix(prod(shape[:-1]), columns, self._stored, work.at)

    def write(self, blocks: Iterable[tuple[SSAValue, Sequence[Index]]], only: SSAValue | None = None) -> None:
        """Write blocks at their offsets; owners of the same block write the same. `only`: condition to write."""
        stores = [
            StoreMatrixOp(part, self._matrix, [row, column])
            for block, starts in blocks
            for part, row, column in self._matrices(to_storage(self._work, block), starts)
        ]
        conditional(self._work, only, stores)

    def share(self) -> None:
        """Insert the barrier that makes all writes visible to every sub-group."""
        self._work.insert(BarrierOp())

    def read(self, shape: Ints, starts: Sequence[Index]) -> SSAValue:
        """Read a block."""
        rows = shape[-2:] if len(shape) > 1 else (1, *shape)
        outer = shape[:-2]
        if not outer:
            return from_storage(self._work, self._work.shape_cast(self._read(rows, (), starts), shape), self.element)
        whole = self._work.zeros(self._stored, shape)
        for position in product(*map(range, outer)):
            part = self._read(rows, position, starts)
            whole = self._work.place(part, whole, (*position, 0, 0))
        return from_storage(self._work, whole, self.element)

    def _read(self, rows: Ints, position: Ints, starts: Sequence[Index]) -> SSAValue:
        row, column = self._place(position, starts)
        kind = VectorType(self._stored, rows)
        return self._work.insert(LoadMatrixOp(self._matrix, [row, column], kind)).result

    def _matrices(self, block: SSAValue, starts: Sequence[Index]) -> Iterable[tuple[SSAValue, Index, Index]]:
        shape = cast(VectorType, block.type).get_shape()
        rows = shape[-2:] if len(shape) > 1 else (1, *shape)
        for position in product(*map(range, shape[:-2])):
            sizes = (1,) * len(position) + rows if position else shape
            offsets = (*position, *(0,) * (len(shape) - len(position)))
            part = self._work.shape_cast(self._work.extract(block, offsets, sizes), rows)
            row, column = self._place(position, starts)
            yield part, row, column

    def _place(self, position: Ints, starts: Sequence[Index]) -> tuple[Index, Index]:
        """Return row and column of an element in the matrix."""
        work, row = self._work, cast(Index, 0)
        moved = [work.add(s, position[i] if i < len(position) else 0) for i, s in enumerate(starts)]
        for extent, start in zip(self._shape[:-1], moved[:-1], strict=True):
            row = work.add(work.multiply(row, extent), start)
        return row, moved[-1]


def verify_all_come_here(op: Operation) -> None:
    """Check that every sub-group of the work-group reaches an operation, as a barrier requires.

    Raises:
        PassFailedException: otherwise.
    """
    if range_around(op) is not None:
        raise refuse("no exchange between sub-groups where only a range of them goes", op.name)
    parent = op.parent_op()
    while parent is not None:
        if any(_differs(operand, set()) for operand in _decides(parent)):
            raise refuse("the same way for all sub-groups where they exchange data", f"{op.name} under {parent.name}")
        parent = parent.parent_op()


def _decides(op: Operation) -> Sequence[SSAValue]:
    """Return the values that control whether and how often the regions of an operation run."""
    if isinstance(op, scf.WhileOp):
        ends = [block.last_op for block in op.before_region.blocks]
        return (*op.operands, *(operand for end in ends if end is not None for operand in end.operands))
    return op.operands


def _differs(value: SSAValue, seen: set[SSAValue]) -> bool:
    """True if a value may differ between sub-groups because it depends on their ids."""
    if value in seen or isinstance(value.type, VectorType):
        return False
    seen.add(value)
    owner = value.owner
    if isinstance(owner, Operation):
        if owner.name in _IDS:
            return True
        inner = [o for region in owner.regions for block in region.blocks for op in block.ops for o in op.operands]
        return any(_differs(operand, seen) for operand in (*owner.operands, *inner))
    parent = owner.parent_op()
    yielded = () if owner.last_op is None else owner.last_op.operands
    return parent is not None and any(_differs(operand, seen) for operand in (*parent.operands, *yielded))


def to_storage(work: Work, value: SSAValue) -> SSAValue:
    """Convert a vector to its form in memory: i1 as bytes, indices as 64 bits."""
    kind = cast(VectorType, value.type)
    stored = VectorType(_storage_type(kind.element_type), kind.get_shape())
    if isinstance(kind.element_type, IndexType):
        return work.insert(IndexCastOp(value, stored)).result
    return value if stored == kind else work.insert(ExtUIOp(value, stored)).result


def from_storage(work: Work, value: SSAValue, element: Attribute) -> SSAValue:
    """Convert a vector back from its form in memory."""
    kind = cast(VectorType, value.type)
    if kind.element_type == element:
        return value
    result = VectorType(element, kind.get_shape())
    if isinstance(element, IndexType):
        return work.insert(IndexCastOp(value, result)).result
    return work.insert(TruncIOp(value, result)).result


def _storage_type(element: Attribute) -> Attribute:
    if isinstance(element, IndexType):
        return i64
    return i8 if element == i1 else element


def storage_bytes(element: Attribute) -> int:
    """Return the bytes of an element in shared local memory."""
    return bytes_of(_storage_type(element))
