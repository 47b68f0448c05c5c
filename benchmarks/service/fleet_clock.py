"""A clock that counts what this process computes, and jumps to what comes next when all wait."""

import heapq
import itertools
import threading
import time
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_LOOK_S = 0.002


class FleetClock:
    """Virtual time of threads that it starts. What they compute takes its processor time; waiting costs nothing.

    So a program that keeps up has its time compressed, one that does not shows how far it falls behind, and other
    programs of the machine change nothing. Only what one interpreter computes at a time is told so: what waits for a
    database's own process is free.
    """

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._offset_s = -time.process_time()
        self._working = 0
        self._sleepers: list[tuple[float, int, threading.Event]] = []
        self._waiters: dict[int, tuple[float, threading.Event, threading.Event]] = {}
        self._numbers = itertools.count()
        self._ended = False
        self.jumped_s = 0.0
        self._driver = threading.Thread(target=self._drive, name="clock", daemon=True)
        self._driver.start()

    def seconds(self) -> float:
        """Since the begin."""
        return time.process_time() + self._offset_s

    def now(self) -> datetime:
        """The same as a moment."""
        return _EPOCH + timedelta(seconds=self.seconds())

    def start(self, thread: threading.Thread) -> None:
        """Start a thread whose work is waited for before time jumps."""
        run = thread.run

        def counted() -> None:
            try:
                run()
            finally:
                self._leave()

        thread.run = counted
        with self._lock:
            self._working += 1
        thread.start()

    def sleep(self, seconds: float) -> None:
        """Let that much time pass."""
        woken = threading.Event()
        with self._lock:
            heapq.heappush(self._sleepers, (self.seconds() + seconds, next(self._numbers), woken))
            self._working -= 1
            self._lock.notify_all()
        woken.wait()

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """As Event.wait."""
        woken = threading.Event()
        with self._lock:
            self._waiters[next(self._numbers)] = (self.seconds() + seconds, event, woken)
            self._working -= 1
            self._lock.notify_all()
        woken.wait()
        return event.is_set()

    def end(self) -> None:
        """Let every thread that waits go on."""
        with self._lock:
            self._ended = True
            self._lock.notify_all()

    def _leave(self) -> None:
        with self._lock:
            self._working -= 1
            self._lock.notify_all()

    def _drive(self) -> None:
        while True:
            with self._lock:
                woken = self._wake()
                if not woken and self._working == 0 and (self._sleepers or self._waiters):
                    first_s = min([at for at, _, _ in self._sleepers[:1]] + [at for at, _, _ in self._waiters.values()])
                    jump_s = first_s - self.seconds()
                    if jump_s > 0:
                        self._offset_s += jump_s
                        self.jumped_s += jump_s
                    continue
                if not woken:
                    self._lock.wait(_LOOK_S)
                if self._ended and not self._sleepers and not self._waiters and self._working == 0:
                    return

    def _wake(self) -> int:
        """Wake whose time has come; how many."""
        now_s, woken = self.seconds(), 0
        while self._sleepers and (self._sleepers[0][0] <= now_s or self._ended):
            heapq.heappop(self._sleepers)[2].set()
            woken += 1
        for number, (at_s, event, own) in list(self._waiters.items()):
            if at_s <= now_s or event.is_set() or self._ended:
                del self._waiters[number]
                own.set()
                woken += 1
        self._working += woken
        return woken
