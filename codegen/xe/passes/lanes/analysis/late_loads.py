"""Schedules loads from shared local memory right before their first use, where a block multiplies.

Lowering loads all operands of a K step before the products. Intel's compiler roughly keeps the given order, and the
registers of a sub-group of 8 do not hold accumulators and all operands.
"""

from collections.abc import Iterable

from xdsl.dialects.llvm import LoadOp, StoreOp
from xdsl.ir import Block, Operation

from codegen.xe.dialects.gpu import BarrierOp
from codegen.xe.dialects.upstream.llvm_ops import LOCAL, DeviceCallOp
from codegen.xe.passes.lanes.analysis.aliases import is_pure


def load_late(body: Block) -> None:
    """Schedule, in place, the loads of blocks with products, and pure operations; all others keep their order."""
    for block in [body, *(block for op in body.walk() for region in op.regions for block in region.blocks)]:
        if any(isinstance(op, DeviceCallOp) for op in block.ops):
            _schedule(block)


def _schedule(block: Block) -> None:
    ops, waiting, ordered = list(block.ops), dict[Operation, None](), list[Operation]()
    for op in ops:
        if _is_movable(op):
            waiting[op] = None
            continue
        _emit(list(waiting) if _orders(op) else _needed(op), waiting, ordered)
        ordered.append(op)
    for op in ops:
        op.detach()
    block.add_ops(ordered)


def _emit(wanted: Iterable[Operation], waiting: dict[Operation, None], ordered: list[Operation]) -> None:
    """Append waiting operations, each after those that it needs."""
    for op in wanted:
        if op in waiting:
            del waiting[op]
            _emit(_needed(op), waiting, ordered)
            ordered.append(op)


def _needed(op: Operation) -> list[Operation]:
    return [operand.owner for operand in op.operands if isinstance(operand.owner, Operation)]


def _is_movable(op: Operation) -> bool:
    return (isinstance(op, LoadOp) and op.ptr.type == LOCAL) or (not op.regions and is_pure(type(op)))


def _orders(op: Operation) -> bool:
    """True if no load may move past an operation, or its regions may use any value."""
    return bool(op.regions) or isinstance(op, BarrierOp) or (isinstance(op, StoreOp) and op.ptr.type == LOCAL)
