"""Launches that are enqueued before the earlier ones have ended, so that a GPU does not idle between them."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

_MOST_AHEAD = 16
_QUEUED_US = 1000.0  # of work, more than the host takes between two launches
_ALONE_US = 20_000.0  # longer launches are not enqueued ahead: the idle gap counts for nothing, the last launch does


class Profile(Protocol):
    """Times of an event in nanoseconds of the device's clock."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


class Event(Protocol):
    """The part of pyopencl.Event that times a launch."""

    @property
    def profile(self) -> Profile: ...

    def wait(self) -> None: ...


class LaunchesAhead:
    """Launches of an in-order queue. `enqueue` takes the number of a launch and returns the events of its steps.

    With `alone` each launch is enqueued when the one before has ended: for CPUs, whose cores the host needs to
    enqueue.
    """

    def __init__(self, enqueue: Callable[[int], Sequence[Event]], *, alone: bool) -> None:
        self._enqueue, self._alone = enqueue, alone
        self._queued: deque[Sequence[Event]] = deque()
        self._ahead = 0
        self.enqueued = 0

    def launch_us(self, _number: int) -> float:
        """Wait for the next launch and return its time in microseconds, from its first step to its last."""
        while len(self._queued) <= self._ahead:
            self._queued.append(self._enqueue(self.enqueued))
            self.enqueued += 1
        events = self._queued.popleft()
        events[-1].wait()
        time_us = (events[-1].profile.end - events[0].profile.start) * 1e-3
        self._ahead = 0 if self._alone else _ahead(time_us)
        return time_us

    def finish(self) -> None:
        """Wait for the launches that are still enqueued."""
        while self._queued:
            self._queued.popleft()[-1].wait()


def _ahead(time_us: float) -> int:
    """Return the number of launches of that length to enqueue ahead."""
    if time_us > _ALONE_US:
        return 0
    return min(_MOST_AHEAD, max(1, int(_QUEUED_US / max(time_us, 1.0))))
