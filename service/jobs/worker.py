"""Runs jobs one at a time: claims one, keeps its lease alive, lets the tuner work, and records how it ended.

No transaction is open while a job runs. A worker that is told to stop puts its job back in the queue; one
that is killed leaves it to the next worker, which takes it over at once on this host and after the lease elsewhere.
"""

import signal
import threading
from collections.abc import Callable, Collection
from types import FrameType
from typing import Protocol
from uuid import UUID

import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.errors import DatabaseError, LeaseLost
from db.queries import (
    leases,
    quarantines,
)
from db.schema import Job
from db.session import Database
from service.api.devices.quarantine import this_host
from service.artifacts import StorageError
from service.jobs.job_runs import (
    MAX_ATTEMPTS,
    ClaimedJob,
    JobEnd,
    JobRuns,
    RunJob,
)
from service.jobs.supervisor import end_within
from service.jobs.worker_names import (
    is_dead,
    own_name,
)
from service.settings import Settings

__all__ = ["MAX_ATTEMPTS", "ClaimedJob", "JobEnd", "RunJob", "Worker", "stop_on_signals"]

STORAGE_WAIT_S = 30.0
_log = structlog.stdlib.get_logger(__name__)


class Worker:
    """One worker. `run` blocks; `stop` may be called from any thread or a signal handler.

    `here` names the devices that jobs can run on in this machine; jobs for others are left to other workers. Unless
    `alone`, jobs of its own name are those of other threads of this process.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        run_job: RunJob,
        here: Callable[[], Collection[str]] | None = None,
        *,
        alone: bool = True,
    ) -> None:
        self._database, self._settings, self._run_job, self._here = database, settings, run_job, here
        self._alone = alone
        self._stop, self._interrupt = threading.Event(), threading.Event()
        self.name = own_name()

    def stop(self) -> None:
        """Put the present job back and end."""
        self._stop.set()
        self._interrupt.set()

    def run(self) -> None:
        """Run jobs until stopped; a database that does not answer is waited for."""
        while not self._stop.is_set():
            try:
                busy = self.run_next()
            except DatabaseError as error:
                _log.warning("worker waits for the database", error=str(error))
                busy = False
            except StorageError as error:
                _log.warning("worker waits for room for artifacts", error=str(error), seconds=STORAGE_WAIT_S)
                self._stop.wait(STORAGE_WAIT_S)
                continue
            if not busy:
                self._stop.wait(self._settings.worker_poll_s)

    def run_next(self) -> bool:
        """Run one job; False when none waits.

        Raises:
            DatabaseError: the database does not answer; the job stays as it is.
            StorageError: artifacts cannot be written; the job is back in the queue.
        """
        devices = None if self._here is None else set(self._here())  # may probe: before the transaction
        with self._database.write() as session:
            self._release_abandoned(session)
            if devices is not None:
                devices -= {kept.slug for kept in quarantines.active(session, this_host())}
            job = leases.claim_next(session, self.name, self._settings.lease_s, devices=devices)
        return self._take(job)

    def run_one(self, job_id: UUID) -> bool:
        """Run that job; False when it is over or another worker has it.

        Raises:
            DatabaseError: the database does not answer; the job stays as it is.
            StorageError: artifacts cannot be written; the job is back in the queue.
        """
        with self._database.write() as session:
            self._release_abandoned(session)
            job = leases.claim(session, job_id, self.name, self._settings.lease_s)
        return self._take(job)

    def _release_abandoned(self, session: Session) -> None:
        # This worker is idle: what has its name was left when the database did not answer.
        release_abandoned(session, lambda name: (self._alone and name == self.name) or is_dead(name))

    def _take(self, job: Job | None) -> bool:
        if job is None:
            return False
        self._interrupt = threading.Event()
        if self._stop.is_set():
            self._interrupt.set()
        ended = threading.Event()
        heart = threading.Thread(target=self._beat, args=(job.id, ended), name="heartbeat", daemon=True)
        heart.start()
        try:
            runs = JobRuns(self._database, self.name, self._settings.quarantine_s)
            runs.run(job, self._run_job, self._interrupt, this_host())
        finally:
            ended.set()
            heart.join()
        return True

    def _beat(self, job_id: UUID, ended: threading.Event) -> None:
        while not ended.wait(self._settings.lease_s / 4):
            try:
                with self._database.write() as session:
                    leases.extend(session, job_id, self.name, self._settings.lease_s)
            except LeaseLost:
                self._interrupt.set()
                return
            except DatabaseError as error:
                _log.warning("lease not extended", job=str(job_id), error=str(error))


def release_abandoned(session: Session, is_gone: Callable[[str], bool]) -> None:
    """Put back the jobs of workers that are gone."""
    for name in session.scalars(select(Job.worker).where(Job.status == "running").distinct()).all():
        if name is not None and is_gone(name):
            leases.release_all(session, name)


class Stoppable(Protocol):
    """What a signal may stop."""

    def stop(self) -> None:
        """End soon; may be called from a signal handler."""
        ...


def stop_on_signals(worker: Stoppable, within_s: float | None = None) -> None:
    """Make SIGTERM and SIGINT stop the worker, and kill this process if it is still there after `within_s`."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        worker.stop()
        if within_s is not None:
            end_within(within_s)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
