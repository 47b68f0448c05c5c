"""The standard library as the product sees it in the world: threads, events, timers and clocks on virtual time."""

from __future__ import annotations

import random
import threading as real_threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from datetime import datetime, tzinfo
from typing import Any

from tests.world.virtual import Killed, Scheduler, Task


class Running:
    """The scheduler of the present world."""

    scheduler: Scheduler | None = None

    @classmethod
    def get(cls) -> Scheduler:
        """Return it."""
        assert cls.scheduler is not None, "no world runs"
        return cls.scheduler


class Event:
    """As threading.Event."""

    def __init__(self) -> None:
        self._is_set = False

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True

    def clear(self) -> None:
        self._is_set = False

    def wait(self, timeout: float | None = None) -> bool:
        return Running.get().wait("waits", timeout, self.is_set)


class Thread:
    """As threading.Thread."""

    def __init__(
        self,
        target: Callable[..., object],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        name: str = "thread",
        daemon: bool | None = None,
    ) -> None:
        self._run = lambda: (target(*args, **(kwargs or {})), None)[1]
        self.name, self.daemon = name, daemon
        self._task: Task | None = None

    def start(self) -> None:
        scheduler = Running.get()
        scheduler.check_alive()
        self._task = scheduler.spawn(scheduler.process, self.name, self._run)

    def is_alive(self) -> bool:
        return self._task is not None and not self._task.over

    def join(self, timeout: float | None = None) -> None:
        task = self._task
        assert task is not None
        if not task.over:
            Running.get().wait(f"joins {self.name}", timeout, lambda: task.over)


class Timer:
    """As threading.Timer."""

    def __init__(self, interval: float, function: Callable[[], object]) -> None:
        self._interval, self._function, self._cancelled = interval, function, Event()

    def start(self) -> None:
        Thread(self._run, name="timer").start()

    def cancel(self) -> None:
        self._cancelled.set()

    def _run(self) -> None:
        if not self._cancelled.wait(self._interval):
            self._function()


class Threading:
    """As the module threading; no task gives way while it holds a lock, so the real locks serve."""

    Event, Thread, Timer = Event, Thread, Timer
    Lock, RLock = real_threading.Lock, real_threading.RLock
    current_thread = staticmethod(real_threading.current_thread)


class Executor:
    """As concurrent.futures.ThreadPoolExecutor; the work is done when it is submitted."""

    def __init__(self, *_: object) -> None:
        pass

    def submit(self, work: Callable[..., Any], *args: Any) -> Future[Any]:
        made: Future[Any] = Future()
        try:
            made.set_result(work(*args))
        except Killed:
            raise
        except BaseException as error:  # noqa: BLE001 (the future has it)
            made.set_exception(error)
        return made

    def shutdown(self, *, wait: bool = True, cancel_futures: bool = False) -> None:
        pass


class Time:
    """As the module time; the monotonic clocks are those of all hosts."""

    @staticmethod
    def monotonic() -> float:
        return Running.get().now_s

    perf_counter = monotonic

    @staticmethod
    def time() -> float:
        return Running.get().wall.timestamp()

    @staticmethod
    def time_ns() -> int:
        return round(Running.get().wall.timestamp() * 1e9)

    @staticmethod
    def sleep(seconds: float) -> None:
        Running.get().wait("sleeps", seconds)


class DateTime(datetime):
    """As datetime.datetime, with the wall clock of the task's host."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        return Running.get().wall.astimezone(tz)


class Secrets:
    """As the module secrets, from the world's random numbers."""

    numbers = random.Random(0)

    @classmethod
    def randbits(cls, k: int) -> int:
        return cls.numbers.getrandbits(k)


class BackgroundScheduler:
    """As the scheduler of APScheduler, for jobs at intervals."""

    def __init__(self, **_: object) -> None:
        self._jobs: list[tuple[Callable[[], object], float]] = []
        self._over, self._threads = Event(), list[Thread]()

    def add_job(self, work: Callable[[], object], _trigger: str, *, seconds: float, **_: object) -> None:
        self._jobs.append((work, seconds))

    def start(self) -> None:
        for work, seconds in self._jobs:
            thread = Thread(self._run, (work, seconds), name="schedules")
            thread.start()
            self._threads.append(thread)

    def shutdown(self, wait: bool = True) -> None:
        self._over.set()
        for thread in self._threads if wait else ():
            thread.join()

    def _run(self, work: Callable[[], object], seconds: float) -> None:
        while True:
            work()
            if self._over.wait(seconds):
                return
