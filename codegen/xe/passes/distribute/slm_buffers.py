"""Buffers in shared local memory for exchanges between sub-groups, and the bytes that a kernel allocates."""

from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import IntegerAttr, MemRefType, VectorType, i8, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from codegen.xe.dialects.creation import walk
from codegen.xe.dialects.gpu import (
    BarrierOp,
    FuncOp,
)
from codegen.xe.dialects.gpu.kernel import (
    AddressSpace,
    AddressSpaceAttr,
)
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.xegpu import (
    CreateMemDescOp,
    MemDescType,
)
from codegen.xe.dialects.xegpu.types import bytes_of

_SLM = IntegerAttr(3, i64)


@dataclass(slots=True)
class Buffers:
    """The buffers of one kernel, allocated at its start.

    Exchanges do not overlap, so exchanges of one size reuse one buffer.
    """

    entry: Block
    _allocated: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    _last: Operation | None = None

    def matrix(self, rows: int, columns: int, element: Attribute, at: InsertPoint) -> SSAValue:
        """Return a matrix that is safe to write: pending reads of the buffer are waited for."""
        nbytes = rows * columns * bytes_of(element)
        reused = nbytes in self._allocated
        if not reused:
            op = memref.AllocaOp.get(i8, shape=[nbytes], memory_space=_SLM)
            op.memref.name_hint = "exchange"
            self._first(op)
            self._allocated[nbytes] = op.memref
        if reused or in_loop(at):
            Rewriter.insert_op(BarrierOp(), at)
        desc = CreateMemDescOp(self._allocated[nbytes], MemDescType(VectorType(element, [rows, columns])))
        Rewriter.insert_op(desc, at)
        return desc.mem_desc

    def _first(self, op: Operation) -> None:
        if self._last is None:
            Rewriter.insert_op(op, InsertPoint.at_start(self.entry))
        else:
            Rewriter.insert_op(op, InsertPoint.after(self._last))
        self._last = op


def in_loop(at: InsertPoint) -> bool:
    """True if the insertion point may be reached again."""
    parent = at.block.parent_op()
    while parent is not None:
        if isinstance(parent, scf.ForOp | scf.WhileOp | scf.ParallelOp):
            return True
        parent = parent.parent_op()
    return False


def slm_bytes(func: FuncOp) -> int:
    """Return the shared local memory that a kernel allocates, in bytes."""
    allocations = [op for op in walk(func) if isinstance(op, memref.AllocaOp | memref.AllocOp)]
    buffers = [*(op.results[0] for op in allocations), *func.workgroup_buffers]
    return sum(_memref_bytes(buffer.type) for buffer in buffers)


def _memref_bytes(kind: Attribute) -> int:
    if not isinstance(kind, MemRefType) or not _in_slm(kind.memory_space):
        return 0
    shape: Ints = kind.get_shape()
    return prod(shape) * bytes_of(kind.element_type)


def _in_slm(space: Attribute) -> bool:
    if isinstance(space, AddressSpaceAttr):
        return space.data is AddressSpace.WORKGROUP
    return isinstance(space, IntegerAttr) and space.value.data == 3
