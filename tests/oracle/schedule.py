"""Scheduler of the sub-groups of a work-group, from barrier to barrier."""

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from codegen.xe.subgroup import subgroup_size
from tests.oracle.execute import (
    Values,
    text_of,
)
from tests.oracle.frame import (
    AtBarrier,
    AtNamedBarrier,
    AtSubgroup,
    Event,
    WorkGroup,
)
from tests.oracle.refusal import KernelFault

Running = Generator[Event, None, Values]
_SHOWN = 8


@dataclass(slots=True)
class _Thread:
    running: Running
    waits: Event | None = None
    ended: bool = False

    def advance(self) -> None:
        """Run until it waits or ends."""
        self.waits = next(self.running, None)
        self.ended = self.waits is None


def run_together(group: WorkGroup, running: Sequence[Running]) -> None:
    """Run all sub-groups to their end; between barriers they run one after the other, in the order of their ids.

    Raises:
        KernelFault: a deadlock.
    """
    threads = [_Thread(code) for code in running]
    ready = list(threads)
    while ready:
        for thread in ready:
            thread.advance()
        ready = _released(group, threads)


def _released(group: WorkGroup, threads: Sequence[_Thread]) -> list[_Thread]:
    """Return the threads whose wait is over; none once all have ended."""
    if all(thread.ended for thread in threads):
        return []
    met = [thread for thread in threads if _met(group, thread.waits)] or _whole(threads)
    if met:
        return met
    waits = [thread.waits for thread in threads]
    if all(isinstance(w, AtBarrier) for w in waits) and len({w.op for w in waits if w is not None}) == 1:
        return list(threads)
    raise KernelFault("", f"expected all sub-groups to reach one barrier, got {_where(threads)}")


def _met(group: WorkGroup, wait: Event | None) -> bool:
    """Return whether a named barrier was completed as often as a sub-group waits for."""
    if not isinstance(wait, AtNamedBarrier):
        return False
    meeting = group.meetings.get(wait.barrier.number)
    return meeting is not None and meeting.completions >= wait.completions


def _whole(threads: Sequence[_Thread]) -> list[_Thread]:
    """Return the work-items of sub-groups whose work-items all wait at the same operation."""
    counts = Counter(thread.waits for thread in threads if isinstance(thread.waits, AtSubgroup))
    return [t for t in threads if isinstance(t.waits, AtSubgroup) and counts[t.waits] == subgroup_size()]


def _where(threads: Sequence[_Thread]) -> str:
    """Describe the positions of the sub-groups for a message."""
    places: dict[str, list[int]] = {}
    seen: dict[object, str] = {}
    for number, thread in enumerate(threads):
        if thread.waits is None:
            place = "at the end"
        else:
            place = seen.setdefault(thread.waits.op, f"at `{text_of(thread.waits.op)}` ({len(seen) + 1})")
        places.setdefault(place, []).append(number)
    return "; ".join(f"{_listed(numbers)} {place}" for place, numbers in places.items())


def _listed(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:_SHOWN]))
    return f"{shown}, ..." if len(numbers) > _SHOWN else shown
