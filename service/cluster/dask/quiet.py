"""Compilations of a machine beside one another, and nothing beside a measurement of its CPU."""

import threading
from collections.abc import Generator
from contextlib import contextmanager


class Quiet:
    """Many share it or one has it alone; who wants it alone comes before those that ask to share it later."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._sharing = 0
        self._alone = False
        self._wanting = 0

    @contextmanager
    def shared(self) -> Generator[None]:
        """Beside others, and not while one has it alone."""
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
        """When those that share it have ended, and before others begin."""
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
