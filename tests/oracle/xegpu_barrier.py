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
    count = op.nbarrier_num.value.data if op.nbarrier_num is not None else None
    if op.count is not None:
        count = frame.number(op.count)
    assert count is not None, "its verifier asks for a number"
    frame.group.barriers = max(frame.group.barriers, count)


@rule_of(xegpu.InitNbarrierOp)
def _init(frame: Frame, op: xegpu.InitNbarrierOp) -> None:
    number, participants = frame.number(op.nbarrier_id), frame.number(op.participant_thread_num)
    if participants < 1:
        raise KernelFault("", f"expected at least one participant, got {participants}")
    if not 0 <= number < frame.group.barriers:
        raise KernelFault("", f"expected one of the {frame.group.barriers} barriers that are allocated, got {number}")
    frame.set(op.result, NamedBarrier(number, participants))


def _meeting(frame: Frame, barrier: NamedBarrier) -> Meeting:
    return frame.group.meetings.setdefault(barrier.number, Meeting())


@rule_of(xegpu.NbarrierArriveOp)
def _arrive(frame: Frame, op: xegpu.NbarrierArriveOp) -> Iterator[Event] | None:
    """A wait that follows ends with what completes the barrier now. Work-items of a sub-group arrive as one."""
    if frame.group.whole:
        return None
    barrier = frame.get(op.nbarrier, NamedBarrier)
    if frame.lane is not None:
        return _arrive_together(frame, op, barrier)
    frame.due[barrier.number] = _arrival(frame, barrier)
    return None


def _arrive_together(frame: Frame, op: xegpu.NbarrierArriveOp, barrier: NamedBarrier) -> Iterator[Event]:
    frame.due[barrier.number] = yield from together(frame, op, None, lambda _: _arrival(frame, barrier))


def _arrival(frame: Frame, barrier: NamedBarrier) -> int:
    """Arrive; how often the barrier is completed once all have."""
    meeting = _meeting(frame, barrier)
    if frame.subgroup in meeting.arrived:
        raise KernelFault("", f"expected sub-group {frame.subgroup} to arrive once before others do, got twice")
    meeting.arrived.add(frame.subgroup)
    due = meeting.completions + 1
    if len(meeting.arrived) == barrier.participants:
        meeting.arrived.clear()
        meeting.completions = due
    return due


@rule_of(xegpu.NbarrierWaitOp)
def _wait(frame: Frame, op: xegpu.NbarrierWaitOp) -> Iterator[Event] | None:
    if frame.group.whole:
        return None
    barrier = frame.get(op.nbarrier, NamedBarrier)
    due = frame.due.get(barrier.number)
    if due is None:
        raise KernelFault("", f"expected sub-group {frame.subgroup} to arrive before it waits, got no arrival")
    if _meeting(frame, barrier).completions >= due:
        return None
    return iter((AtNamedBarrier(op, barrier, due),))


@rule_of(xegpu.FenceOp)
def _fence(frame: Frame, op: xegpu.FenceOp) -> None:
    """Accesses are in the order of the program."""


@rule_of(CompileHintOp)
def _compile_hint(frame: Frame, op: CompileHintOp) -> None:
    """For a scheduler: no effect on values."""
