"""Time during which at least one of several concurrent tasks was running."""

import threading
import time
from collections.abc import Callable


class Busy:
    """Seconds during which at least one task was running. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._under_way = 0
        self._since_s = 0.0
        self._earlier_s = 0.0

    def begin(self) -> None:
        """Record that a task begins."""
        with self._lock:
            if self._under_way == 0:
                self._since_s = self._clock()
            self._under_way += 1

    def end(self) -> None:
        """Record that a task ends."""
        with self._lock:
            self._under_way -= 1
            if self._under_way == 0:
                self._earlier_s += self._clock() - self._since_s

    @property
    def seconds(self) -> float:
        """Return the seconds so far."""
        with self._lock:
            return self._earlier_s + (self._clock() - self._since_s if self._under_way else 0.0)
