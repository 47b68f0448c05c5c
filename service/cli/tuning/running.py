"""Runs one job in this process with a progress bar, or follows the worker that runs it."""

import threading
from uuid import UUID

import typer
from rich.progress import Progress, TaskID

from db.errors import DatabaseError
from service.api.devices.quarantine import check_free
from service.api.jobs import service
from service.api.jobs.schemas import JobOut
from service.api.toolchain.offline import (
    OfflineCompiler,
    find_ocloc,
)
from service.artifacts import StorageError
from service.cli.backend.stored import Stored
from service.cli.printing.progress import INTERRUPTED, bar, stopping, tell, update
from service.jobs.tuning import Tuning
from service.jobs.worker import Worker
from tuner.session.result import Event

_POLL_S = 0.5


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


def _read(store: Stored, job_id: UUID) -> JobOut:
    with store.database.read() as session:
        return service.read_job(session, job_id)
