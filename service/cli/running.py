"""Runs one job in this process with a progress bar, or follows the worker that runs it."""

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from uuid import UUID

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from db.base import utc_now
from db.errors import DatabaseError
from service.artifacts import StorageError
from service.cli.evidence import shown_time
from service.cli.output import ERRORS
from service.cli.stored import Stored
from service.devices.quarantine import check_free
from service.jobs import service
from service.jobs.schemas import JobOut, JobStatus
from service.maintenance.closed import check_open
from service.toolchain.offline import OfflineCompiler, find_ocloc
from service.tuning import Tuning
from service.worker import Worker
from tuner.result import Event

_POLL_S = 0.5
INTERRUPTED = 128 + signal.SIGINT
"""Status of a program that Ctrl-C ended."""


def end_with(job: JobOut) -> None:
    """End the program with status 1 if the job gave no result.

    Raises:
        typer.Exit: it failed or was cancelled.
    """
    if job.status is not JobStatus.SUCCEEDED:
        raise typer.Exit(1)


def work_on_job(store: Stored, job_id: UUID, quiet: bool) -> None:
    """Return when the job is over.

    Raises:
        typer.Exit: Ctrl-C put it back in the queue, or stopped watching another process run it; what was finished is
            stored.
    """
    job = _read(store, job_id)
    if not job.status.over:
        with store.database.read() as session:
            check_free(session, job.device)
            check_open(session, job.device, utc_now())
    with bar(quiet) as progress:
        task = progress.add_task("starting", total=None)

        def show(_event: Event) -> None:
            update(progress, task, _read(store, job_id))

        native_for = OfflineCompiler(find_ocloc(store.settings))
        tuning = Tuning(
            store.database,
            store.artifacts,
            store.settings.cache_dir,
            on_event=show,
            native_for=native_for,
            on_wait=lambda message: tell(f"job {job_id} {message}"),
        )
        worker = Worker(store.database, store.settings, tuning.run)
        with stopping(worker.stop) as stopped:
            try:
                if not worker.run_one(job_id):
                    _follow(store, job_id, progress, task, stopped)
            except (DatabaseError, StorageError):
                tell(f"what was finished is stored; {_goes_on(job_id)}")
                raise
            except KeyboardInterrupt:
                tell(f"stopped at once; what was finished is stored; {_goes_on(job_id)}")
                raise typer.Exit(INTERRUPTED) from None
        job = _read(store, job_id)
        update(progress, task, job)
    if not job.status.over:
        tell(f"stopped after {job.done} trials, which are stored; {_goes_on(job_id)}")
        raise typer.Exit(INTERRUPTED)


def _goes_on(job_id: UUID) -> str:
    return f"`xetune jobs resume {job_id}` goes on"


def _follow(store: Stored, job_id: UUID, progress: Progress, task: TaskID, stopped: threading.Event) -> None:
    """Another worker has the job, or it is over: show how it goes."""
    if not _read(store, job_id).status.over:
        tell(f"job {job_id} is run by another process, which is followed here")
    while not (job := _read(store, job_id)).status.over:
        update(progress, task, job)
        if stopped.wait(_POLL_S):
            tell(f"job {job_id} goes on in the other process; `xetune jobs cancel {job_id}` stops it")
            raise typer.Exit(INTERRUPTED)


def tell(message: str) -> None:
    """Say something beside the progress, on standard error."""
    ERRORS.print(message, highlight=False, soft_wrap=True)


def _read(store: Stored, job_id: UUID) -> JobOut:
    with store.database.read() as session:
        return service.read_job(session, job_id)


def update(progress: Progress, task: TaskID, job: JobOut) -> None:
    """Show how a job goes."""
    best = "" if job.best is None else f"best {shown_time(job.best.evidence.time)}"
    progress.update(task, total=job.budget.trials, completed=job.done, description=f"trials  {best}")


def bar(quiet: bool) -> Progress:
    """A progress bar on standard error, where that is a terminal."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, console=ERRORS, disable=quiet or not ERRORS.is_terminal)


@contextmanager
def stopping(stop_work: Callable[[], None]) -> Generator[threading.Event]:
    """The first Ctrl-C or SIGTERM sets the event and stops after the present trial, the second stops at once."""
    stopped = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopped.set()
        stop_work()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        ERRORS.print("stopping after the present trial (Ctrl-C again stops at once)")

    before = signal.signal(signal.SIGINT, stop), signal.signal(signal.SIGTERM, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])
