"""The meaning of XeGPU's synchronisation. Where a work-group is executed as a whole, nothing waits."""

from collections.abc import Iterator

from codegen.xe.dialects import xegpu
from codegen.xe.dialects.xegpu.compile_hint import CompileHintOp
from tests.oracle.frame import (
    AtNamedBarrier,
    Event,
    Frame,
    Meeting,
)
from tests.oracle.refusal import KernelFault
from tests.oracle.registry import rule_of
from tests.oracle.values import NamedBarrier
from tests.oracle.work_items import together


@rule_of(xegpu.AllocNbarrierOp)
def _allocate(frame: Frame, op: xegpu.AllocNbarrierOp) -> None:
    """A named barrier exists when one is bound to its number."""


@rule_of(xegpu.InitNbarrierOp)
def _init(frame: Frame, op: xegpu.InitNbarrierOp) -> None:
    number, participants = frame.number(op.nbarrier_id), frame.number(op.participant_thread_num)
    if participants < 1:
        raise KernelFault("", f"expected at least one participant, got {participants}")
    frame.set(op.result, NamedBarrier(number, participants))


def _meeting(frame: Frame, barrier: NamedBarrier) -> Meeting:
    return frame.group.meetings.setdefault(barrier.number, Meeting())


@rule_of(xegpu.NbarrierArriveOp)
def _arrive(frame: Frame, op: xegpu.NbarrierArriveOp) -> Iterator[Event] | None:
    if frame.group.whole:
        return None
    return _arrival(frame, op)


def _arrival(frame: Frame, op: xegpu.NbarrierArriveOp) -> Iterator[Event]:
    """A sub-group arrives once, with all of its work-items."""
    if frame.lane is not None:
        yield from together(frame, op, None, list)
    if frame.lane not in (None, 0):
        return
    barrier = frame.get(op.nbarrier, NamedBarrier)
    meeting = _meeting(frame, barrier)
    if frame.subgroup in meeting.arrived:
        raise KernelFault("", f"expected sub-group {frame.subgroup} to arrive once before others do, got twice")
    meeting.arrived.add(frame.subgroup)
    if len(meeting.arrived) == barrier.participants:
        meeting.arrived.clear()
        meeting.completions += 1


@rule_of(xegpu.NbarrierWaitOp)
def _wait(frame: Frame, op: xegpu.NbarrierWaitOp) -> Iterator[Event] | None:
    """The n-th wait of a sub-group ends when all have arrived for the n-th time."""
    if frame.group.whole:
        return None
    barrier = frame.get(op.nbarrier, NamedBarrier)
    waits = frame.waits.get(barrier.number, 0) + 1
    frame.waits[barrier.number] = waits
    if _meeting(frame, barrier).completions >= waits:
        return None
    return iter((AtNamedBarrier(op, barrier, waits),))


@rule_of(xegpu.FenceOp)
def _fence(frame: Frame, op: xegpu.FenceOp) -> None:
    """Accesses are in the order of the program."""


@rule_of(CompileHintOp)
def _compile_hint(frame: Frame, op: CompileHintOp) -> None:
    """For a scheduler: no effect on values."""
