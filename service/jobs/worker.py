"""Worker for a given job in this process: claims it, extends its lease, and records its end.

The coordinator runs the jobs of the queue; this runs those of a set of shapes. No
transaction is open while a job runs. A worker that is stopped requeues its job; the job of one that was
killed is claimed again at once on the same host, and after its lease elsewhere.
"""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Protocol
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.errors import LeaseLost
from db.queries.cluster import leases
from db.schema.job import Job
from db.session import Database
from service.api.devices.quarantine import this_host
from service.jobs.heartbeat import repeated
from service.jobs.job_runs import JobRuns, RunJob
from service.jobs.supervisor import end_within
from service.jobs.worker_names import is_dead, own_name
from service.settings import Settings


class Worker:
    """Runner of jobs by id. `run_one` blocks; setting `stop`, from any thread, requeues the current job.

    Other jobs with its worker name belong to other threads of this process.
    """

    def __init__(self, database: Database, settings: Settings, stop: threading.Event) -> None:
        self._database, self._settings, self._stop = database, settings, stop
        self.name = own_name()

    def run_one(self, job_id: UUID, run_job: RunJob) -> bool:
        """Run that job; False if it is over or another worker has it.

        Raises:
            DatabaseError: the database does not answer; the job is unchanged.
            StorageError: artifacts cannot be written; the job is requeued.
        """
        with self._database.write() as session:
            release_abandoned(session, is_dead)
            job = leases.claim(session, job_id, self.name, self._settings.lease_s)
        if job is None:
            return False
        interrupt = _AnyOf(self._stop)

        def extend() -> bool:
            try:
                with self._database.write() as session:
                    leases.extend(session, job_id, self.name, self._settings.lease_s)
            except LeaseLost:
                interrupt.set()
            return not interrupt.is_set()

        with repeated(extend, self._settings.lease_s / 4, f"lease of job {job_id}"):
            runs = JobRuns(self._database, self.name, self._settings.quarantine_s)
            runs.run(job, run_job, interrupt, this_host())
        return True


class _AnyOf(threading.Event):
    """An event that is also set when another one is."""

    def __init__(self, other: threading.Event) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        return super().is_set() or self._other.is_set()


def release_abandoned(session: Session, is_gone: Callable[[str], bool]) -> None:
    """Requeue the jobs of workers that are gone."""
    for name in session.scalars(select(Job.worker).where(Job.status == "running").distinct()).all():
        if name is not None and is_gone(name):
            leases.release_all(session, name)


class Stoppable(Protocol):
    """Object that a signal may stop."""

    def stop(self) -> None:
        """End soon; may be called from a signal handler."""
        ...


def stop_on_signals(worker: Stoppable, within_s: float | None = None) -> None:
    """Stop the worker on SIGTERM and SIGINT, and kill this process if it has not ended after `within_s`."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        worker.stop()
        if within_s is not None:
            end_within(within_s)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
