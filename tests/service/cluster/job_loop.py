"""The job loop that ships, driven by a test: a coordinator of this machine, as `xetune worker` runs it."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from db.session import Database
from service.cluster.coordinator import Clock, Coordinator
from service.cluster.executor import Executor
from service.cluster.local import LocalEngine, LocalExecutor
from service.jobs.job_runs import RunJob
from service.settings import Settings

RunAt = Callable[[Database, Executor], RunJob]


def nothing_here() -> LocalExecutor:
    """This machine without a device: it runs the jobs whose times are predicted."""
    return LocalExecutor(here=frozenset)


@dataclass(frozen=True)
class NamedEngine(LocalEngine):
    """This machine under a name of its own: two of them in one process are two machines for the coordinators."""

    executor: LocalExecutor
    machine: str

    @property
    def name(self) -> str:
        return f"machine {self.machine}"

    def executors(self) -> tuple[LocalExecutor]:
        return (self.executor,)


def coordinator(
    database: Database,
    settings: Settings,
    run_at: RunAt,
    executor: LocalExecutor | None = None,
    holder: str | None = None,
    clock: Clock | None = None,
) -> Coordinator:
    """Return a coordinator of `executor`; one with a `holder` is of another machine, which has that name."""
    here = executor or nothing_here()
    engine = LocalEngine(here) if holder is None else NamedEngine(here, holder)
    return Coordinator(database, settings, engine, run_at, holder, clock)


def run_jobs(
    database: Database,
    settings: Settings,
    run_at: RunAt,
    executor: LocalExecutor | None = None,
    holder: str | None = None,
    at_most: int | None = None,
) -> int:
    """Run jobs one after the other until none is left that `executor` can run; return how many were claimed.

    It also returns when another coordinator leads, or the database does not answer.
    """
    turns = _Turns(at_most)
    made = coordinator(database, settings, run_at, executor, holder, Clock(wait=turns.wait, start=turns.start))
    turns.stop = made.stop
    made.run()
    return turns.claimed


@dataclass
class _Turns:
    """Lets a coordinator wait for each job that it starts, and stops it after a look that started none."""

    at_most: int | None
    stop: Callable[[], None] = lambda: None
    claimed: int = 0
    started: list[threading.Thread] = field(default_factory=list)
    driver: threading.Thread = field(default_factory=threading.current_thread)

    def start(self, thread: threading.Thread) -> None:
        thread.start()
        if thread.name.startswith("job "):
            self.started.append(thread)

    def wait(self, event: threading.Event, seconds: float) -> bool:
        if threading.current_thread() is not self.driver:  # the heartbeat
            return event.wait(seconds)
        begun, self.started = self.started, []
        self.claimed += len(begun)
        for thread in begun:
            thread.join()
        if not begun or self.claimed == self.at_most:
            self.stop()
        return True
