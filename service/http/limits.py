"""Limits of this process: rates per caller (token buckets), and concurrent work."""

import math
import threading
import time
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager

from service.errors import TooMany

_KEPT = 10_000


class Rates:
    """Token buckets by caller. Thread-safe.

    Each holds at most `burst` requests and refills with `per_s` a second; a `per_s` of 0 is no limit. Full
    buckets are deleted when there are many.
    """

    def __init__(self, per_s: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_s, self._burst, self._clock = per_s, burst, clock
        self._lock = threading.Lock()
        self._buckets: dict[Hashable, tuple[float, float]] = {}  # requests left, and the time

    def take(self, caller: Hashable) -> None:
        """Count a request.

        Raises:
            TooMany: rule `rate`; has the time to retry after.
        """
        if self._per_s == 0:
            return
        with self._lock:
            now = self._clock()
            left = self._left(caller, now)
            if left >= 1:
                self._buckets[caller] = left - 1, now
                if len(self._buckets) > _KEPT:
                    self._forget(now)
                return
        wait_s = math.ceil((1 - left) / self._per_s)
        message = f"more than {self._burst} requests at once, or {self._per_s:g} in a second; try again in {wait_s} s"
        raise TooMany(message, rule="rate", retry_after_s=wait_s)

    def _left(self, caller: Hashable, now: float) -> float:
        left, at = self._buckets.get(caller, (float(self._burst), now))
        return min(self._burst, left + (now - at) * self._per_s)

    def _forget(self, now: float) -> None:
        self._buckets = {c: b for c, b in self._buckets.items() if self._left(c, now) < self._burst}


_RETRY_S = 2


class Slots:
    """Semaphore of at most `most` holders; `rule` and `what` name them in the error if more are refused.
    Thread-safe.
    """

    def __init__(self, most: int, rule: str, what: str) -> None:
        self._most, self._rule, self._what = most, rule, what
        self._lock = threading.Lock()
        self.taken = 0

    @contextmanager
    def one(self) -> Generator[None]:
        """Hold a slot for the block.

        Raises:
            TooMany: all slots are in use.
        """
        with self._lock:
            if self.taken >= self._most:
                message = f"{self._most} {self._what} are running already; try again soon"
                raise TooMany(message, rule=self._rule, retry_after_s=_RETRY_S)
            self.taken += 1
        try:
            yield
        finally:
            with self._lock:
                self.taken -= 1
