"""Runs jobs: claims one, keeps its lease alive, lets the tuner work, and records how it ended.

No transaction is open while a job runs. A worker that is told to stop puts its job back in the queue; one
that is killed leaves it to the next worker, which takes it over at once on this host and after the lease elsewhere.
"""

import re
import signal
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from types import FrameType
from typing import Literal
from uuid import UUID

import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session

from codegen import CodegenError, GemmProblem
from db import leases, quarantines
from db.errors import DatabaseError, LeaseLost
from db.migrate import prepare
from db.models import Job
from db.session import Database
from hal import DeviceSpec, HalError
from service.artifacts import ArtifactStore, StorageError
from service.convert import problem_from_json, spec_from_json
from service.devices.quarantine import this_host
from service.presence import Role, present
from service.settings import Settings
from service.worker_names import is_dead, own_name
from tuner.errors import DeviceUnusable, TunerError
from tuner.search.method import Method

MAX_ATTEMPTS = 100
_EXPECTED = (CodegenError, HalError, TunerError)
_STORAGE_WAIT_S = 30.0
_log = structlog.stdlib.get_logger(__name__)


class JobEnd(StrEnum):
    """How a run of a job ended, when it did not fail."""

    SUCCEEDED = "succeeded"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"  # `stop` was set: the job is not over
    PAUSED = "paused"  # a portion of it is done: the job is not over


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A job that `worker` holds the lease of. `budget_seconds` is wall time.

    With `reuse` it takes times that are known, with `warm_start` it begins with what is good for other problems.
    """

    id: UUID
    worker: str
    problem: GemmProblem
    device: DeviceSpec
    budget_trials: int
    budget_seconds: float
    seed: int
    reuse: bool = True
    warm_start: bool = True
    method: Method = Method.PORTFOLIO
    no_gain: int | None = None
    roofline: float | None = None


RunJob = Callable[[ClaimedJob, threading.Event], JobEnd]
"""Runs a job until it ends or the event is set; may raise the errors of the rooms below."""


class Worker:
    """One worker. `run` blocks; `stop` may be called from any thread or a signal handler.

    `here` names the devices that jobs can run on in this machine; jobs for others are left to other workers.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        run_job: RunJob,
        here: Callable[[], Collection[str]] | None = None,
    ) -> None:
        self._database, self._settings, self._run_job, self._here = database, settings, run_job, here
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
                _log.warning("worker waits for room for artifacts", error=str(error), seconds=_STORAGE_WAIT_S)
                self._stop.wait(_STORAGE_WAIT_S)
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
        holders = session.scalars(select(Job.worker).where(Job.status == "running").distinct()).all()
        for name in holders:
            # This worker is idle: what has its name was left when the database did not answer.
            if name is not None and (name == self.name or is_dead(name)):
                leases.release_all(session, name)

    def _take(self, job: Job | None) -> bool:
        if job is None:
            return False
        _log.info("job claimed", job=str(job.id), attempt=job.attempts)
        try:
            if job.cancel_requested:
                self._finish(job.id, JobEnd.CANCELLED)
            elif job.attempts > MAX_ATTEMPTS:
                self._finish(job.id, "failed", f"too-many-attempts: {MAX_ATTEMPTS} runs of it ended without a result")
            else:
                self._run(job)
        except LeaseLost as error:
            _log.warning("job lost", job=str(job.id), error=str(error))
        return True

    def _run(self, job: Job) -> None:
        self._interrupt = threading.Event()
        if self._stop.is_set():
            self._interrupt.set()
        ended = threading.Event()
        heart = threading.Thread(target=self._beat, args=(job.id, ended), name="heartbeat", daemon=True)
        heart.start()
        try:
            end = self._run_job(_claimed(job, self.name), self._interrupt)
        except DatabaseError:
            raise
        except (StorageError, KeyboardInterrupt):
            self._finish(job.id, JobEnd.INTERRUPTED)
            raise
        except DeviceUnusable as error:
            self._quarantine(job, error)
            self._finish(job.id, "failed", f"{_code(error)}: {error}")
        except _EXPECTED as error:
            self._finish(job.id, "failed", f"{_code(error)}: {error}")
        except Exception as error:  # noqa: BLE001 (a fault of ours ends this job, not the others)
            _log.exception("fault of this program", job=str(job.id))
            self._finish(job.id, "failed", f"internal: {type(error).__name__}: {error}")
        else:
            self._finish(job.id, end)
        finally:
            ended.set()
            heart.join()

    def _quarantine(self, job: Job, error: DeviceUnusable) -> None:
        with self._database.write() as session:
            quarantines.put(
                session,
                host=this_host(),
                slug=job.device.slug,
                reason=f"{_code(error)}: {error}",
                job_id=job.id,
                seconds=self._settings.quarantine_s,
            )
        _log.warning("device gets no jobs", device=job.device.slug, seconds=self._settings.quarantine_s)

    def _finish(self, job_id: UUID, end: JobEnd | Literal["failed"], error: str | None = None) -> None:
        with self._database.write() as session:
            if end in (JobEnd.INTERRUPTED, JobEnd.PAUSED):
                leases.release(session, job_id, self.name)
            else:
                leases.finish(session, job_id, self.name, end, error)
        _log.info("job ended", job=str(job_id), end=str(end), error=error)

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


def run_worker(settings: Settings) -> None:
    """Run jobs of the database that `settings` name until SIGTERM or SIGINT.

    Raises:
        DatabaseError: the database cannot be opened or is not migrated.
    """
    # Imported here: it opens devices and compilers, which nothing else of the service needs.
    from service.here import DevicesHere
    from service.toolchain.offline import OfflineCompiler, find_ocloc
    from service.tuning import Tuning

    database = prepare(settings.database_url, create=False)
    artifacts = ArtifactStore(settings.artifacts_dir)
    try:
        native_for = OfflineCompiler(find_ocloc(settings))
        tuning = Tuning(database, artifacts, settings.cache_dir, native_for=native_for)
        worker = Worker(database, settings, tuning.run, DevicesHere())
        stop_on_signals(worker)
        _log.info("worker starts", worker=worker.name)
        with present(database, Role.WORKER, worker.name, settings.heartbeat_s):
            worker.run()
    finally:
        database.close()


def stop_on_signals(worker: Worker) -> None:
    """Make SIGTERM and SIGINT stop the worker."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        worker.stop()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


def _claimed(job: Job, worker: str) -> ClaimedJob:
    search = job.search
    return ClaimedJob(
        id=job.id,
        worker=worker,
        problem=problem_from_json(job.problem.definition),
        device=spec_from_json(job.device.spec),
        budget_trials=job.budget_trials,
        budget_seconds=job.budget_seconds,
        seed=job.seed,
        reuse=job.start is None or not job.start.again,
        warm_start=job.start is None or not job.start.cold,
        method=Method.PORTFOLIO if search is None else Method(search.method),
        no_gain=None if search is None else search.no_gain,
        roofline=None if search is None else search.roofline,
    )


def _code(error: Exception) -> str:
    """The class's name in dashes: StorageFull is storage-full."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", type(error).__name__).lower()
