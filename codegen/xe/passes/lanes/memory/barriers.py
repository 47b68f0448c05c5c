"""Barriers and fences. A named barrier of all sub-groups is the barrier of the work-group."""

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.gpu import BarrierOp
from codegen.xe.dialects.upstream.xevm import (
    AddrSpace,
    MemfenceOp,
    MemScope,
)
from codegen.xe.dialects.xegpu import (
    FenceOp,
    FenceScope,
    InitNbarrierOp,
    MemorySpace,
)
from codegen.xe.passes.lanes.lowering import (
    Handler,
    Lowering,
)
from codegen.xe.passes.lanes.values import Barrier


def _allocate(lowering: Lowering, op: Operation) -> None:
    """Lower to nothing: the barrier of a work-group needs no allocation."""


def _init(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, InitNbarrierOp)
    count = _number(op.participant_thread_num)
    if lowering.subgroups is None or count != lowering.subgroups:
        got = "a number that is not known" if count is None else str(count)
        expected = "known_block_size" if lowering.subgroups is None else f"all {lowering.subgroups} of the work-group"
        raise PassFailedException(
            f"lower-to-lanes: expected a named barrier of all sub-groups ({expected}), got one of {got}: "
            "use gpu.barrier, or let all of them take part"
        )
    lowering.define(op.result, Barrier())


def _number(value: SSAValue) -> int | None:
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


def _arrive(lowering: Lowering, op: Operation) -> None:
    """Lower to nothing: the wait is the barrier, which also orders earlier writes."""


def _wait(lowering: Lowering, op: Operation) -> None:
    lowering.emitter.add(BarrierOp())


def _fence(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, FenceOp)
    space = AddrSpace.SHARED if op.memory_kind.data is MemorySpace.SLM else AddrSpace.GLOBAL
    scope = MemScope.DEVICE if op.fence_scope.data is FenceScope.GPU else MemScope.WORKGROUP
    lowering.emitter.add(MemfenceOp(space, scope))


HANDLERS: Mapping[str, Handler] = {
    "xegpu.alloc_nbarrier": _allocate,
    "xegpu.init_nbarrier": _init,
    "xegpu.nbarrier_arrive": _arrive,
    "xegpu.nbarrier_wait": _wait,
    "xegpu.fence": _fence,
}
