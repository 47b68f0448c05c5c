"""Named barriers, by the intrinsics of Intel's compiler: nbarrier.signal where a sub-group arrives, nbarrier.wait.

Every participant signals as producer and consumer, so a sub-group that arrives and does not wait is notified, too: the
notification is taken before it arrives again, and before the kernel ends. A number of bits, one for each barrier, says
which are due. Barrier 0 of the hardware is that of gpu.barrier.
"""

from collections.abc import Mapping

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IntegerAttr, i8, i16, i32, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.creation import walk
from codegen.xe.dialects.upstream.arith_casts import ExtUIOp, TruncIOp
from codegen.xe.dialects.upstream.llvm_ops import (
    DeviceCallOp,
)
from codegen.xe.dialects.upstream.xevm import (
    AddrSpace,
    MemfenceOp,
    MemScope,
)
from codegen.xe.dialects.xegpu import (
    AllocNbarrierOp,
    InitNbarrierOp,
    NbarrierArriveOp,
    NbarrierWaitOp,
)
from codegen.xe.dialects.xegpu.barrier import constant
from codegen.xe.nbarrier_intrinsics import MOST_NAMED, SIGNAL, WAIT
from codegen.xe.passes.lanes.emitter import Emitter
from codegen.xe.passes.lanes.lowering import (
    Handler,
    Lowering,
)
from codegen.xe.passes.lanes.values import Barrier
from codegen.xe.subgroup import subgroup_size

_ALLOCATED = "xetune.named_barriers"
_SUBGROUP_SIZE = 16  # of GPUs with named barriers: for the others, Intel's compiler makes all waits one


def _allocate(lowering: Lowering, op: Operation) -> None:
    """Lower to a note on the kernel: Intel's compiler counts the barriers, the simulator checks ids."""
    assert isinstance(op, AllocNbarrierOp)
    count, kernel = _allocated(op), _around(op)
    if count > MOST_NAMED:
        raise PassFailedException(
            f"lower-to-lanes: expected at most {MOST_NAMED} named barriers, as one of the hardware's 32 is that of "
            f"gpu.barrier, got {count}"
        )
    kernel.attributes[_ALLOCATED] = IntegerAttr(max(map(_allocated, _allocations(kernel))), i64)


def named_barriers_of(kernel: Operation) -> int | None:
    """Return the number of barriers that a kernel of lanes allocates, None if it allocates none."""
    noted = kernel.attributes.get(_ALLOCATED)
    return noted.value.data if isinstance(noted, IntegerAttr) else None


def _allocations(kernel: Operation) -> list[AllocNbarrierOp]:
    return [op for op in walk(kernel) if isinstance(op, AllocNbarrierOp)]


def _allocated(op: AllocNbarrierOp) -> int:
    count = op.nbarrier_num.value.data if op.nbarrier_num is not None else constant(op.count)
    if count is None:
        raise PassFailedException(
            "lower-to-lanes: xegpu.alloc_nbarrier: expected a constant number of barriers, which is a part of the "
            "kernel's code, got one known at run time"
        )
    return count


def _init(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, InitNbarrierOp)
    _check(lowering, op)
    emitter = lowering.emitter
    number = emitter.value(arith.AddiOp(lowering.scalar(op.nbarrier_id), emitter.constant(1, i8)))
    lowering.define(op.result, Barrier(number, lowering.scalar(op.participant_thread_num)))


def _check(lowering: Lowering, op: InitNbarrierOp) -> None:
    """Check the id and the participants, as far as they are known.

    Raises:
        PassFailedException: the id is not allocated, or the barrier could never be completed.
    """
    if subgroup_size() != _SUBGROUP_SIZE:
        raise PassFailedException(
            f"lower-to-lanes: xegpu.init_nbarrier: expected a GPU with sub-groups of {_SUBGROUP_SIZE}, got one with "
            f"{subgroup_size()}, whose hardware has no named barriers: use gpu.barrier"
        )
    found = _allocations(_around(op))
    if not found:
        raise PassFailedException("lower-to-lanes: expected xegpu.alloc_nbarrier before xegpu.init_nbarrier, got none")
    most = max(_allocated(o) for o in found)
    number, participants = constant(op.nbarrier_id), constant(op.participant_thread_num)
    if number is not None and number >= most:
        raise PassFailedException(
            f"lower-to-lanes: xegpu.init_nbarrier: expected an id below {most}, the barriers that are allocated, "
            f"got {number}"
        )
    subgroups = lowering.subgroups
    if participants is not None and not 1 <= participants <= (subgroups or participants):
        raise PassFailedException(
            f"lower-to-lanes: xegpu.init_nbarrier: expected 1 to {subgroups or 'all'} participants, the sub-groups of "
            f"the work-group, got {participants}"
        )


def _around(op: Operation) -> Operation:
    around = op
    while (parent := around.parent_op()) is not None and around.name != "gpu.func":
        around = parent
    return around


def _arrive(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, NbarrierArriveOp)
    emitter, barrier = lowering.emitter, lowering.get(op.nbarrier, Barrier)
    bit, due = _bit(emitter, barrier.number), _due(emitter)
    before = emitter.value(memref.LoadOp.get(due, []))
    _wait_if(lowering, before, bit, barrier.number)
    emitter.add(MemfenceOp(AddrSpace.SHARED, MemScope.WORKGROUP))
    emitter.add(MemfenceOp(AddrSpace.GLOBAL, MemScope.WORKGROUP))
    _call(lowering, SIGNAL, barrier.number, emitter.constant(0, i16), barrier.participants, barrier.participants)
    emitter.add(memref.StoreOp.get(emitter.value(arith.OrIOp(before, bit)), due, []))


def _wait_if(lowering: Lowering, due: SSAValue, bit: SSAValue, number: SSAValue) -> None:
    """Wait for a barrier if its notification is due."""
    emitter = lowering.emitter
    is_due = emitter.value(arith.CmpiOp(emitter.both(due, bit), emitter.constant(0, i32), "ne"))
    with emitter.into(block := Block()):
        _call(lowering, WAIT, number)
        emitter.add(scf.YieldOp())
    emitter.add(scf.IfOp(is_due, [], Region(block)))


def _wait(lowering: Lowering, op: Operation) -> None:
    assert isinstance(op, NbarrierWaitOp)
    if not any(isinstance(o, NbarrierArriveOp) for o in walk(_around(op))):
        raise PassFailedException(
            "lower-to-lanes: expected xegpu.nbarrier_arrive before xegpu.nbarrier_wait, as the hardware notifies only "
            "sub-groups that arrived, got none"
        )
    emitter, barrier = lowering.emitter, lowering.get(op.nbarrier, Barrier)
    _call(lowering, WAIT, barrier.number)
    others = emitter.value(arith.XOrIOp(_bit(emitter, barrier.number), emitter.constant(-1, i32)))
    due = _due(emitter)
    emitter.add(memref.StoreOp.get(emitter.both(emitter.value(memref.LoadOp.get(due, [])), others), due, []))


def take_due(lowering: Lowering, body: Block) -> None:
    """Take the notifications that are due at the end of a kernel."""
    if SIGNAL not in lowering.emitter.functions:
        return
    emitter, last = lowering.emitter, body.last_op
    assert last is not None  # a kernel ends with a terminator
    with emitter.into(end := Block()):
        due = emitter.value(memref.LoadOp.get(_due(emitter), []))
        with emitter.into(block := Block(arg_types=[i32])):
            number = emitter.value(TruncIOp(block.args[0], i8))
            _wait_if(lowering, due, _bit(emitter, number), number)
            emitter.add(scf.YieldOp())
        first, after, step = (emitter.constant(n, i32) for n in (1, MOST_NAMED + 1, 1))
        emitter.add(scf.ForOp(first, after, step, [], block))
    for op in list(end.ops):
        op.detach()
        body.insert_op_before(op, last)


def _due(emitter: Emitter) -> SSAValue:
    """Return the variable of the notifications that are due."""

    def make() -> SSAValue:
        variable = emitter.value(memref.AllocaOp.get(i32, shape=[]))
        emitter.add(memref.StoreOp.get(emitter.constant(0, i32), variable, []))
        return variable

    return emitter.once("notifications that are due", make)


def _bit(emitter: Emitter, number: SSAValue) -> SSAValue:
    return emitter.value(arith.ShLIOp(emitter.constant(1, i32), emitter.value(ExtUIOp(number, i32))))


def _call(lowering: Lowering, symbol: str, *operands: SSAValue) -> None:
    lowering.emitter.declare(symbol, operands, None, convergent=True)
    lowering.emitter.add(DeviceCallOp(symbol, operands, None))


HANDLERS: Mapping[str, Handler] = {
    "xegpu.alloc_nbarrier": _allocate,
    "xegpu.init_nbarrier": _init,
    "xegpu.nbarrier_arrive": _arrive,
    "xegpu.nbarrier_wait": _wait,
}
