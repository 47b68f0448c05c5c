"""Run a job or a shape set in this process, or follow the service that runs it."""

import os
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

import psutil
import typer

from db.errors import DatabaseError
from db.migrate import prepare
from db.session import Database
from service.api.devices.quarantine import check_free
from service.api.shapes.running import run_set
from service.artifacts import StorageError
from service.cli.access.opening import Access
from service.cli.access.own_context import command_settings
from service.cli.printing.counted import counted
from service.cli.printing.evidence import shown_best
from service.cli.printing.progress import INTERRUPTED, bar, tell
from service.cli.tuning.job_lists import job_of
from service.cli.tuning.shape_tables import set_of
from service.cli.tuning.waiting import held_back
from service.cluster.coordinator import Coordinator
from service.cluster.executor import Executor
from service.cluster.local import LocalEngine
from service.cluster.starting import tuning_at
from service.jobs.job_runs import ClaimedJob, JobEnd, RunJob
from service.jobs.tuning import Tuning

_FIRST_POLL_S, _POLL_S, _GROWTH = 0.05, 1.0, 1.5
_OTHER_POLLS = 3  # as long as this process may need to begin a job that it claimed
_QUEUED_POLLS = 10  # about five seconds


@dataclass(frozen=True, slots=True)
class _State:
    """Progress of a job or shape set: `done` of `total` trials."""

    device: str
    is_running: bool
    is_over: bool
    done: int
    total: int
    text: str

    @property
    def bar(self) -> tuple[int, int]:
        """Parts done and their number; trials beyond the budget, such as those of a set's kernels, extend it."""
        return self.done, max(self.done, self.total)


@dataclass(frozen=True, slots=True)
class _Work:
    """A job or shape set, by its name in messages and its group of commands."""

    id: UUID
    name: str
    group: str
    read: Callable[[], _State]

    @property
    def resumed_by(self) -> str:
        """Return what a message says of resuming it."""
        return f"`xetune {self.group} resume {self.id}` resumes it"


def work_on_job(access: Access, job_id: UUID, url: str | None = None, *, quiet: bool) -> None:
    """Return when a job is over: run it in this process, or follow the service at `url`.

    Raises:
        typer.Exit: interrupted by Ctrl-C; finished trials are stored.
        Conflict: the device is in quarantine.
        StorageError, DatabaseError: results cannot be stored; finished trials are.
    """

    def read() -> _State:
        job = access.read(job_of(job_id))
        best = "" if job.best is None else f"best {shown_best(job)[0]}"
        running = job.status == "running"
        return _State(job.device, running, job.status.over, job.done, job.budget.trials, f"trials  {best}")

    _work_on(access, _Work(job_id, f"job {job_id}", "jobs", read), url, quiet=quiet)


def work_on_set(access: Access, set_id: UUID, url: str | None = None, *, quiet: bool) -> None:
    """Return when a shape set is over; raises as `work_on_job`."""

    def read() -> _State:
        found = access.read(set_of(set_id))
        over = sum(shape.status.over for shape in found.shapes)
        text = f"trials  {over} of {len(found.shapes)} shapes done"
        is_over = found.status != "active"
        return _State(found.device, not is_over, is_over, found.trials, found.budget.trials, text)

    _work_on(access, _Work(set_id, f"shape set {set_id}", "shapes", read), url, quiet=quiet)


def _work_on(access: Access, work: _Work, url: str | None, *, quiet: bool) -> None:
    if url is None:
        if not (state := work.read()).is_over:
            _run_here(work, state.device, quiet=quiet)
        return
    try:
        _follow(work, _Queue(access, work).check, quiet=quiet)
    except KeyboardInterrupt:
        cancel = f"xetune --server {url} {work.group} cancel {work.id}"
        tell(f"{work.name} continues at {url}; `{cancel}` stops it")
        raise typer.Exit(INTERRUPTED) from None


def _follow(work: _Work, check: Callable[[_State], None], *, quiet: bool) -> None:
    """Show progress until the work is over, or `check` raises."""
    with bar(quiet) as progress:
        task, pause_s = progress.add_task("waiting for a worker", total=None), _FIRST_POLL_S
        while True:
            state = work.read()
            completed, total = state.bar
            progress.update(task, description=state.text, completed=completed, total=total)
            if state.is_over:
                return
            check(state)
            time.sleep(pause_s)
            pause_s = min(pause_s * _GROWTH, _POLL_S)


class _Queue:
    """Says once why work of a service has no trial after some seconds, if its device is in quarantine."""

    def __init__(self, access: Access, work: _Work) -> None:
        self._access, self._work, self._polls = access, work, 0

    def check(self, state: _State) -> None:
        """Count the polls without a trial."""
        self._polls += not state.done
        if self._polls == _QUEUED_POLLS and not state.done:
            for reason in held_back(self._access, state.device):
                tell(f"{self._work.name} waits: {reason}")


def _run_here(work: _Work, device: str, *, quiet: bool) -> None:
    settings = command_settings()
    database = prepare(settings.database_url, create=False)
    with database.read() as session:
        check_free(session, device)
    runner = _Runner(database, work)
    try:
        with _terminable():
            runner.start()
            _follow(work, runner.check, quiet=quiet)
    except (DatabaseError, StorageError):
        tell(f"finished trials are stored; {work.resumed_by}")
        raise
    except KeyboardInterrupt:
        _stop(runner, work)
    finally:
        runner.stop()
        database.close()


def _stop(runner: "_Runner", work: _Work) -> None:
    """Stop after the current trial, or at once on a second Ctrl-C.

    Raises:
        typer.Exit: the work is not over.
    """
    try:
        tell("stopping after the present trial (Ctrl-C again stops at once)")
        runner.stop()
    except KeyboardInterrupt:
        tell(f"stopped at once; finished trials are stored; {work.resumed_by}")
        runner.abandon()
        os._exit(INTERRUPTED)  # without waiting for the trial's thread
    state = work.read()
    if state.is_over:
        return
    if runner.is_elsewhere(state):
        tell(f"{work.name} continues in the other process; `xetune {work.group} cancel {work.id}` stops it")
    else:
        tell(f"stopped after {counted(state.done, 'trial')}, stored; {work.resumed_by}")
    raise typer.Exit(INTERRUPTED)


@contextmanager
def _terminable() -> Generator[None]:
    """Let SIGTERM end the command as Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Runner:
    """Coordinator of one job or shape set, in a thread of this process: the loop that `xetune worker` runs."""

    def __init__(self, database: Database, work: _Work) -> None:
        settings = command_settings()
        self._work, self._begun, self._polls = work, False, 0
        self._failure: Exception | None = None
        tuning_of = tuning_at(settings)

        def on_wait(message: str) -> None:
            tell(f"{work.name} {message}")

        def tuning(fenced: Database, executor: Executor) -> Tuning:
            self._begun = True
            return replace(tuning_of(fenced, executor), on_wait=on_wait)

        self._coordinator = Coordinator(
            database,
            settings,
            LocalEngine(),
            lambda fenced, executor: self._noting(tuning(fenced, executor).run),
            set_at=lambda fenced, executor: partial(run_set, tuning(fenced, executor), settings),
            only=work.id,
        )
        self._thread = threading.Thread(target=self._coordinator.run, name="coordinator", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Requeue the work after its current trial, and wait for the thread."""
        if self._thread.is_alive():
            self._coordinator.stop()
            self._thread.join()

    def abandon(self) -> None:
        """Requeue the work and kill the processes of its current trial."""
        self._coordinator.abandon()
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.kill()

    def check(self, state: _State) -> None:
        """Raise the error that ended the run early; report once that another process has the work."""
        if self._failure is not None:
            raise self._failure
        self._polls += self.is_elsewhere(state)
        if self._polls == _OTHER_POLLS:
            tell(f"{self._work.name} is run by another process, which is followed here")

    def is_elsewhere(self, state: _State) -> bool:
        """Return True if another process runs the work, as far as a database that answers tells."""
        return state.is_running and not self._begun and not self._coordinator.is_waiting_for_database

    def _noting(self, run: RunJob) -> RunJob:
        def noted(job: ClaimedJob, interrupt: threading.Event) -> JobEnd:
            try:
                return run(job, interrupt)
            except (DatabaseError, StorageError) as error:
                self._failure = error
                raise

        return noted
