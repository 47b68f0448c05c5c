"""One run of a claimed job: what it is asked, and how its end is recorded."""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal
from uuid import UUID

import structlog

from codegen import CodegenError, GemmProblem
from db.errors import DatabaseError, LeaseLost
from db.queries import (
    leases,
    quarantines,
)
from db.schema import Job
from db.session import Database
from hal import DeviceSpec, HalError
from service.artifacts import StorageError
from service.cluster.executor import PlaceLost
from service.logs import job_lines
from service.row_mapping import (
    objective_of,
    problem_from_json,
    spec_from_json,
)
from service.traces import job_span
from tuner.errors import DeviceUnusable, TunerError
from tuner.search.method import Method
from tuner.search.objective import Objective

MAX_ATTEMPTS = 100
_EXPECTED = (CodegenError, HalError, TunerError)
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
    objective: Objective | None = None


RunJob = Callable[[ClaimedJob, threading.Event], JobEnd]
"""Runs a job until it ends or the event is set; may raise the errors of the rooms below, and PlaceLost."""


@dataclass(frozen=True, slots=True)
class JobRuns:
    """Runs jobs that `worker` has claimed, one call at a time or several in threads. Keeping leases is its owner's.

    A device that proves unusable is kept from jobs on `host` for `quarantine_s`.
    """

    database: Database
    worker: str
    quarantine_s: float

    def run(self, job: Job, run_job: RunJob, interrupt: threading.Event, host: str) -> bool:
        """Run it and record its end; False if it is another's by then and left to it.

        Raises:
            DatabaseError: the database does not answer; the job stays as it is.
            StorageError: artifacts cannot be written; the job is back in the queue.
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
            end = run_job(_claimed(job, self.worker), interrupt)
        except DatabaseError:
            raise
        except PlaceLost as error:
            _log.warning("place lost", error=str(error))
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
            quarantines.put(
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
        objective=objective_of(search),
    )


def _code(error: Exception) -> str:
    """The class's name in dashes: StorageFull is storage-full."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", type(error).__name__).lower()
