"""Concurrency limits of this process."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

from service.errors import TooMany

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
