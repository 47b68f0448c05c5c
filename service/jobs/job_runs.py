"""One run of a claimed job, and the recording of its end."""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal
from uuid import UUID

from codegen import CodegenError
from db.errors import DatabaseError, LeaseLost
from db.queries import quarantines
from db.queries.cluster import leases
from db.schema.job import Job
from db.session import Database
from hal import HalError
from service.artifacts import StorageError
from service.cluster.executor import ExecutorLost
from service.errors import OtherVersion
from service.row_mapping import job_from_row
from service.telemetry.loggers import Logger
from service.telemetry.logs import job_lines
from service.telemetry.traces import job_span
from tuner.errors import DeviceUnusable, TunerError
from tuner.session.job_spec import JobSpec

MAX_ATTEMPTS = 100
_EXPECTED = (CodegenError, HalError, TunerError, OtherVersion)
_log = Logger(__name__)


class JobEnd(StrEnum):
    """End of a run of a job that did not fail."""

    SUCCEEDED = "succeeded"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"  # `stop` was set: the job is not over
    PAUSED = "paused"  # a portion is done: the job is not over


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A job whose lease `worker` holds."""

    id: UUID
    worker: str
    spec: JobSpec


RunJob = Callable[[ClaimedJob, threading.Event], JobEnd]
"""Runs a job until it ends or the event is set; may raise the errors of the packages below, and ExecutorLost."""


@dataclass(frozen=True, slots=True)
class JobRuns:
    """Runner of jobs that `worker` has claimed, one call at a time or several in threads. The owner extends
    the leases.

    An unusable device is quarantined on `host` for `quarantine_s`.
    """

    database: Database
    worker: str
    quarantine_s: float

    def run(self, job: Job, run_job: RunJob, interrupt: threading.Event, host: str) -> bool:
        """Run it and record its end; False if another worker has taken it over by then.

        Raises:
            DatabaseError: the database does not answer; the job is unchanged.
            StorageError: artifacts cannot be written; the job is requeued.
        """
        with job_lines(self.database, job.id), job_span(self.database, job.id, job.attempts):
            return self._run_claimed(job, run_job, interrupt, host)

    def _run_claimed(self, job: Job, run_job: RunJob, interrupt: threading.Event, host: str) -> bool:
        _log.info("job claimed", attempt=job.attempts)
        try:
            if job.cancel_requested:
                self._finish(job.id, JobEnd.CANCELLED)
            elif job.attempts > MAX_ATTEMPTS:
                self._finish(job.id, "failed", f"too-many-attempts: {MAX_ATTEMPTS} runs of it ended without a result")
            else:
                self._run(job, run_job, interrupt, host)
        except LeaseLost as error:
            _log.warning("job lost", error=str(error))
            return False
        return True

    def _run(self, job: Job, run_job: RunJob, interrupt: threading.Event, host: str) -> None:
        try:
            end = run_job(ClaimedJob(job.id, self.worker, job_from_row(job)), interrupt)
        except DatabaseError:
            raise
        except ExecutorLost as error:
            _log.warning("executor lost", error=str(error))
            self._finish(job.id, JobEnd.INTERRUPTED)
        except (StorageError, KeyboardInterrupt):
            self._finish(job.id, JobEnd.INTERRUPTED)
            raise
        except DeviceUnusable as error:
            self._quarantine(job, error, host)
            self._finish(job.id, "failed", f"{_code(error)}: {error}")
        except _EXPECTED as error:
            self._finish(job.id, "failed", f"{_code(error)}: {error}")
        except Exception as error:  # noqa: BLE001 (a fault of ours ends this job, not the others)
            _log.exception("fault of this program")
            self._finish(job.id, "failed", f"internal: {type(error).__name__}: {error}")
        else:
            self._finish(job.id, end)

    def _quarantine(self, job: Job, error: DeviceUnusable, host: str) -> None:
        with self.database.write() as session:
            quarantines.begin(
                session,
                host=host,
                slug=job.device.slug,
                reason=f"{_code(error)}: {error}",
                job_id=job.id,
                seconds=self.quarantine_s,
            )
        _log.warning("device gets no jobs", device=job.device.slug, host=host, seconds=self.quarantine_s)

    def _finish(self, job_id: UUID, end: JobEnd | Literal["failed"], error: str | None = None) -> None:
        with self.database.write() as session:
            if end in (JobEnd.INTERRUPTED, JobEnd.PAUSED):
                leases.release(session, job_id, self.worker)
            else:
                leases.finish(session, job_id, self.worker, end, error)
        _log.info("job ended", end=str(end), error=error)


def _code(error: Exception) -> str:
    """Return the class's name in dashes: StorageFull is storage-full."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", type(error).__name__).lower()
