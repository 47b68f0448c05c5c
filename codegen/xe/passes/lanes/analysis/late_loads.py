"""Schedules loads from shared local memory right before their first use, where a block multiplies.

Lowering loads all operands of a K step before the products. Intel's compiler roughly keeps the given order, and the
registers of a sub-group of 8 do not hold accumulators and all operands.
"""

# pyright: reportPrivateUsage=false
# xDSL's public view of operands is an object of its own, and it hashes operations in Python.

from collections.abc import Iterable

from xdsl.dialects.llvm import LoadOp, StoreOp
from xdsl.ir import Block, Operation, OpResult

from codegen.xe.dialects.creation import reorder, walk
from codegen.xe.dialects.gpu import BarrierOp
from codegen.xe.dialects.upstream.llvm_ops import LOCAL, DeviceCallOp, LoadEachOp, StoreEachOp
from codegen.xe.passes.lanes.analysis.aliases import is_pure


def load_late(body: Block) -> None:
    """Schedule, in place, the loads of blocks with products, and pure operations; all others keep their order."""
    for block in [body, *(block for op in walk(body) for region in op.regions for block in region.blocks)]:
        if any(type(op) is DeviceCallOp for op in block.ops):
            _schedule(block)


def _schedule(block: Block) -> None:
    waiting, ordered = dict[int, Operation](), list[Operation]()
    for op in list(block.ops):
        if _is_movable(op):
            waiting[id(op)] = op
            continue
        _emit(list(waiting.values()) if _orders(op) else _needed(op), waiting, ordered)
        ordered.append(op)
    for unused in waiting.values():
        unused.detach()
    reorder(block, ordered, after=None)


def _emit(wanted: Iterable[Operation], waiting: dict[int, Operation], ordered: list[Operation]) -> None:
    """Append waiting operations, each after those that it needs."""
    for op in wanted:
        if waiting.pop(id(op), None) is not None:
            _emit(_needed(op), waiting, ordered)
            ordered.append(op)


def _needed(op: Operation) -> list[Operation]:
    return [operand.op for operand in op._operands if type(operand) is OpResult]


def _is_movable(op: Operation) -> bool:
    if type(op) is LoadOp or type(op) is LoadEachOp:
        return op.ptr.type == LOCAL
    return not op.regions and is_pure(type(op))


def _orders(op: Operation) -> bool:
    """True if no load may move past an operation, or its regions may use any value."""
    return (
        bool(op.regions)
        or type(op) is BarrierOp
        or ((type(op) is StoreOp or type(op) is StoreEachOp) and op.ptr.type == LOCAL)
    )
