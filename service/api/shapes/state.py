"""State of a running set: trials of its shapes, the device, the remaining time."""

import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy.orm import Session

from codegen import GemmProblem
from db.queries import (
    jobs,
    shape_sets,
)
from db.schema.shape_set import ShapeSet, ShapeSetMember
from hal import Acceptor, ListedDevice
from service.api.shapes.service import find_set
from service.cluster.caching import CachingCompiler
from service.cluster.executor import OpenedDevice
from service.errors import Conflict
from service.gemm_json import problem_from_json
from service.jobs.job_runs import RunJob
from service.jobs.store import DbTrialStore
from service.jobs.tuning import Tuning
from service.jobs.worker import Worker
from tuner.session.history import wall_s
from tuner.session.trial import Trial
from tuner.shapes.allocation import Progress
from tuner.shapes.reference_cache import ReferenceCache


@dataclass(frozen=True, slots=True)
class SetShape:
    """A shape of a set, by the id of its member: its job, its trials that ended, and its share of the budget."""

    member_id: int
    job_id: UUID
    problem: GemmProblem
    trials: Sequence[Trial]
    progress: Progress


@dataclass
class SetState:
    """One run of a set on its device; `device` is None where times are predicted. `stop` ends it after a trial."""

    tuning: Tuning
    set_id: UUID
    listed: ListedDevice
    device: OpenedDevice | None
    pool: CachingCompiler
    worker: Worker
    stop: threading.Event
    acceptor: Acceptor | None = None
    references: ReferenceCache = field(init=False)

    def __post_init__(self) -> None:
        self.references = ReferenceCache(sampled=self.device is None)
        row = self.read()
        self.trials_budget, self.seconds_budget, self.within = row.budget_trials, row.budget_seconds, row.within
        self._stored_s, self._stored_uses = time.monotonic(), self._uses
        self._ends_s = self._stored_s + row.budget_seconds - row.spent_s
        self.shapes = [self._shape(member) for member in row.members]

    def read(self) -> ShapeSet:
        """Return the current row of the set.

        Raises:
            NotFound: there is none.
        """
        with self.tuning.database.read() as session:
            return find_set(session, self.set_id)

    @property
    def left_s(self) -> float:
        """Return the remaining seconds of the budget; negative if overspent."""
        return self._ends_s - time.monotonic()

    @contextmanager
    def write(self) -> Generator[Session]:
        """Open a session that writes as the one that runs the set.

        Raises:
            LeaseLost: another process runs the set.
        """
        with self.tuning.database.write() as session:
            shape_sets.check_own(session, self.set_id, self.worker.name)
            yield session

    def is_over(self) -> bool:
        """Return whether this run was stopped or the set cancelled."""
        return self.stop.is_set() or self.read().status != "active"

    def run_job(self, job_id: UUID, task: RunJob) -> None:
        """Run a task as the job of a shape; do nothing if the job is over.

        Raises:
            Conflict: another process runs the job.
        """
        if self.worker.run_one(job_id, task):
            return
        with self.tuning.database.read() as session:
            job = jobs.get(session, job_id)
        if job is not None and job.status == "running":
            raise Conflict(f"job {job.id} of the set is run by {job.worker}; wait for it, or stop it there")

    def refresh(self, index: int) -> Progress:
        """Reread the trials of a shape."""
        self.shapes[index] = self._shape(self.read().members[index])
        return self.shapes[index].progress

    def note_spent(self) -> None:
        """Store what was spent since the last call."""
        now_s, (compiled, reused) = time.monotonic(), self._uses
        before_compiled, before_reused = self._stored_uses
        added = now_s - self._stored_s, compiled - before_compiled, reused - before_reused
        with self.tuning.database.write() as session:
            shape_sets.spend(session, self.set_id, *added)
        self._stored_s, self._stored_uses = now_s, (compiled, reused)

    @property
    def _uses(self) -> tuple[int, int]:
        return self.pool.uses.misses, self.pool.uses.hits

    def _shape(self, member: ShapeSetMember) -> SetShape:
        store = DbTrialStore(self.tuning.database, self.tuning.artifacts, member.job_id, "")
        ended = [(trial, trial.outcome) for trial in store.trials() if trial.outcome is not None]
        times_us, spent_s = tuple(trial.time_us for trial, _ in ended), sum(wall_s(outcome) for _, outcome in ended)
        progress = Progress(member.weight, times_us, spent_s, member.job.status not in ("queued", "running"))
        problem = problem_from_json(member.job.problem.definition)
        return SetShape(member.id, member.job_id, problem, [trial for trial, _ in ended], progress)
