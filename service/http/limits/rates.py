"""Rate limits per caller: token buckets in the memory of this process."""

import math
import threading
import time
from collections.abc import Callable, Hashable

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
