"""Shared-exclusive lock: compilations of a machine share it, a measurement on its CPU is exclusive."""

import threading
from collections.abc import Generator
from contextlib import contextmanager


class Quiet:
    """Shared-exclusive lock; waiting exclusive users come before later shared ones."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._sharing = 0
        self._alone = False
        self._wanting = 0

    @contextmanager
    def shared(self) -> Generator[None]:
        """Hold the lock together with others, and not while one holds it exclusively."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone and self._wanting == 0)
            self._sharing += 1
        try:
            yield
        finally:
            with self._changed:
                self._sharing -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Generator[None]:
        """Hold the lock exclusively."""
        with self._changed:
            self._wanting += 1
            self._changed.wait_for(lambda: not self._alone and self._sharing == 0)
            self._wanting -= 1
            self._alone = True
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()
