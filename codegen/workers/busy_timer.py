"""For how long something was under way, however many things at one time."""

import threading
import time
from collections.abc import Callable


class Busy:
    """Seconds in which at least one thing was begun and not ended. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._under_way = 0
        self._since_s = 0.0
        self._earlier_s = 0.0

    def begin(self) -> None:
        """Something begins."""
        with self._lock:
            if self._under_way == 0:
                self._since_s = self._clock()
            self._under_way += 1

    def end(self) -> None:
        """Something that was begun ends."""
        with self._lock:
            self._under_way -= 1
            if self._under_way == 0:
                self._earlier_s += self._clock() - self._since_s

    @property
    def seconds(self) -> float:
        """So far."""
        with self._lock:
            return self._earlier_s + (self._clock() - self._since_s if self._under_way else 0.0)
