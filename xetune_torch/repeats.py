"""Times at which products are looked up again: after a failure, while a job is under way, or as time goes by."""

import heapq
import threading
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Outlook(StrEnum):
    """Possible results of another lookup of a product: nothing new, a better kernel some day, the result of a job that
    is under way or has just ended; or an answer at all, after a store that failed.
    """

    FINAL = "final"
    OPEN = "open"
    QUEUED = "queued"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds to wait: `first_s`, each time twice as long, at most `most_s`."""

    first_s: float
    most_s: float

    def after(self, times: int) -> float:
        """Return the seconds after so many waits."""
        return min(self.first_s * 2.0 ** min(times, 60), self.most_s)


BACKOFFS: Mapping[Outlook, Backoff] = MappingProxyType(
    {
        Outlook.OPEN: Backoff(60.0, 3600.0),
        Outlook.QUEUED: Backoff(1.0, 30.0),
        Outlook.READY: Backoff(0.0, 0.0),
        Outlook.FAILED: Backoff(1.0, 120.0),
    }
)


@dataclass(slots=True)
class _Entry:
    outlook: Outlook
    times: int
    due_s: float


class Repeats(Generic[Key]):
    """Products to look up again, each with its time. Thread-safe; times are those of one monotonic clock, in seconds.

    The wait grows with each lookup of the same outlook. A failure is the store's: until its wait is over, no product is
    due, and once a lookup succeeds, those that failed are due at once.
    """

    def __init__(self, backoffs: Mapping[Outlook, Backoff] = BACKOFFS) -> None:
        self.backoffs = backoffs
        self._lock = threading.Lock()
        self._entries: dict[Key, _Entry] = {}
        self._heap: list[tuple[float, int, Key]] = []
        self._pushed = self._failures = 0
        self._resumes_s = 0.0

    def note(self, key: Key, outlook: Outlook, now_s: float) -> None:
        """Note the outcome of a lookup, which says when the next is due."""
        with self._lock:
            if outlook is Outlook.FAILED:
                if now_s >= self._resumes_s:
                    self._resumes_s = now_s + self.backoffs[outlook].after(self._failures)
                    self._failures += 1
                self._push(key, _Entry(outlook, 0, self._resumes_s))
                return
            if self._failures:
                self._failures, self._resumes_s = 0, now_s
                for other, entry in self._entries.items():
                    if entry.outlook is Outlook.FAILED:
                        self._push(other, _Entry(Outlook.FAILED, 0, now_s))
            before = self._entries.pop(key, None)
            if outlook is not Outlook.FINAL:
                times = before.times + 1 if before is not None and before.outlook is outlook else 0
                self._push(key, _Entry(outlook, times, now_s + self.backoffs[outlook].after(times)))

    def due(self, now_s: float) -> Key | None:
        """Return a product that is due, and take it off the heap until its outcome is noted; None if none is."""
        with self._lock:
            if (first := self._first()) is None or max(first, self._resumes_s) > now_s:
                return None
            return heapq.heappop(self._heap)[2]

    def wait_s(self, now_s: float) -> float | None:
        """Return the seconds until a product is due; None if none is to be looked up again."""
        with self._lock:
            first = self._first()
            return None if first is None else max(0.0, first - now_s, self._resumes_s - now_s)

    def clear(self) -> None:
        """Forget all products, and that the store failed."""
        with self._lock:
            self._entries.clear()
            self._heap.clear()
            self._failures, self._resumes_s = 0, 0.0

    def _push(self, key: Key, entry: _Entry) -> None:
        self._entries[key] = entry
        self._pushed += 1
        heapq.heappush(self._heap, (entry.due_s, self._pushed, key))

    def _first(self) -> float | None:
        """Return when the first product is due, leaving out times that were replaced."""
        while self._heap:
            due_s, _, key = self._heap[0]
            entry = self._entries.get(key)
            if entry is not None and entry.due_s == due_s:
                return due_s
            heapq.heappop(self._heap)
        return None
