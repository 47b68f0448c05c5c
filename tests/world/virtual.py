"""Virtual time, hosts, processes and tasks: one task runs at a time, and random numbers choose the next.

A task is a greenlet. It gives way only where the product waits, commits, compiles, launches or writes a file, so that
a seed decides every interleaving, and a process can be killed or stalled at each of these points.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from greenlet import getcurrent, greenlet

if TYPE_CHECKING:
    from service.http.context import Context

EPOCH = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class Killed(BaseException):
    """The process of this task was killed: whatever it still calls has no effect."""


class Broken(BaseException):
    """An invariant does not hold."""


@dataclass(eq=False)
class Host:
    """A machine: its wall clock is `skew_s` away from the virtual time; seconds without network or disk space."""

    name: str
    skew_s: float = 0.0
    cut_until_s: float = 0.0
    disk_full_until_s: float = 0.0

    def now(self, now_s: float) -> datetime:
        """Return the time of the wall clock."""
        return EPOCH + timedelta(seconds=now_s + self.skew_s)


@dataclass(eq=False)
class Process:
    """A process of a host. `main` runs again in a new process some time after a kill."""

    host: Host
    role: str
    pid: int
    started: int
    main: Callable[[Process], None]
    alive: bool = True
    stalled_until_s: float = 0.0
    locked_at: datetime | None = None  # when it last began to write, by the clock of its host
    tasks: list[Task] = field(default_factory=list)
    stop: Callable[[], None] | None = None
    context: Context | None = None
    at_close: list[Callable[[], None]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Its name as a worker, of the form of service/jobs/worker_names.py."""
        return f"{self.host.name}/{self.host.name}:ns/{self.pid}/{self.started}"

    def __str__(self) -> str:
        return f"{self.role} {self.pid} of {self.host.name}"


@dataclass(eq=False)
class Task:
    """A thread of a process."""

    process: Process
    name: str
    run: Callable[[], None]
    wake_s: float | None = 0.0
    ready: Callable[[], bool] | None = None
    over: bool = False
    at: str = "begin"
    greenlet: greenlet = field(init=False)


class Scheduler:
    """Chooses the next task and advances the time when all wait. `told` receives each line of the story."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now_s, self.step, self.last_pid = 0.0, 0, 100
        self.tasks: list[Task] = []
        self.processes: list[Process] = []
        self.current: Task | None = None
        self.hub = getcurrent()
        self.story: list[str] = []
        self.failure: Broken | None = None
        self.alarms: Callable[[], list[float]] = list  # times at which the world acts

    # What tasks call.

    @property
    def process(self) -> Process:
        """The process of the current task."""
        assert self.current is not None, "only tasks have a process"
        return self.current.process

    @property
    def wall(self) -> datetime:
        """The wall clock of the current task's host; of no host outside of tasks."""
        return EPOCH + timedelta(seconds=self.now_s) if self.current is None else self.process.host.now(self.now_s)

    def check_alive(self) -> None:
        """Check that the current process was not killed.

        Raises:
            Killed: it was.
        """
        if self.current is not None and not self.current.process.alive:
            raise Killed

    def wait(self, what: str, seconds: float | None, ready: Callable[[], bool] | None = None) -> bool:
        """Give way until `ready`, for at most `seconds`; return whether it is."""
        task = self.current
        if task is None:  # the world itself looks, between two steps
            return ready is None or ready()
        self.check_alive()
        task.at, task.ready = what, ready
        task.wake_s = None if seconds is None else self.now_s + max(seconds, 0.0)
        self.hub.switch()
        return ready is None or ready()

    def point(self, what: str) -> None:
        """Give way to the others at a named point."""
        self.wait(what, 0.0)

    def tell(self, line: str) -> None:
        """Add a line to the story."""
        who = "world" if self.current is None else f"{self.current.process}, {self.current.name}"
        self.story.append(f"{self.step:5} {self.now_s:9.2f} s  {who}: {line}")

    # What the world calls.

    def start(self, host: Host, role: str, main: Callable[[Process], None]) -> Process:
        """Start a process."""
        self.last_pid += 1
        made = Process(host, role, self.last_pid, int(self.now_s * 100) + self.last_pid, main)
        self.processes.append(made)

        def run() -> None:
            main(made)
            self.kill(made, "because its main thread ended")

        self.spawn(made, "main", run)
        self.tell(f"{made} starts")
        return made

    def spawn(self, process: Process, name: str, run: Callable[[], None]) -> Task:
        """Start a task."""
        task = Task(process, name, run, self.now_s)
        task.greenlet = greenlet(lambda: self._body(task), self.hub)
        process.tasks.append(task)
        self.tasks.append(task)
        return task

    def kill(self, process: Process, why: str) -> None:
        """End a process as SIGKILL does; it does not take effect in the present task before that gives way."""
        if not process.alive:
            return
        self.tell(f"{process} is killed {why}")
        process.alive = False

    def turn(self) -> bool:
        """Run one task until it gives way; False when none can before the world acts."""
        self._bury()
        task = self._choose()
        if task is None:
            return False
        self.step += 1
        self._switch(task)
        self._bury()
        if self.failure is not None:
            raise self.failure
        return True

    def close(self) -> None:
        """End all tasks."""
        self.failure = None
        for process in self.processes:
            process.alive = False
        self._bury()

    def _choose(self) -> Task | None:
        while not (runnable := [task for task in self.tasks if self._due(task)]):
            ends = [t.process.stalled_until_s for t in self.tasks if t.process.stalled_until_s > self.now_s]
            wakes = [max(t.wake_s, t.process.stalled_until_s) for t in self.tasks if t.wake_s is not None]
            times = [*ends, *wakes, *self.alarms()]
            if not times:
                return None
            self.now_s = max(self.now_s, min(times))
            if self.now_s in self.alarms():
                return None
        return self.random.choice(runnable)

    def _due(self, task: Task) -> bool:
        if task.process.stalled_until_s > self.now_s:
            return False
        return (task.wake_s is not None and task.wake_s <= self.now_s) or (task.ready is not None and task.ready())

    def _switch(self, task: Task) -> None:
        self.current = task
        try:
            task.greenlet.switch()
        finally:
            self.current = None

    def _bury(self) -> None:
        """Unwind the tasks of killed processes."""
        dead = [task for task in self.tasks if not task.process.alive]
        for task in dead:
            self.current = task
            try:
                if task.greenlet:  # begun, and not over
                    task.greenlet.throw(Killed())
            finally:
                self.current = None
            task.over = True
        self.tasks = [task for task in self.tasks if not task.over]
        for process in {task.process for task in dead}:
            for act in process.at_close:
                act()
            process.at_close.clear()

    def _body(self, task: Task) -> None:
        try:
            task.run()
        except Killed:
            pass
        except Broken as broken:
            self.failure = self.failure or broken
        except BaseException as error:  # noqa: BLE001 (what ends a thread of the product is a finding)
            if task.process.alive and self.failure is None:
                self.failure = Broken(f"{task.process}, {task.name} ended by {type(error).__name__}: {error}")
                self.failure.__cause__ = error
        finally:
            task.over = True
