"""State of a running set: trials of its shapes, the device, its job runner, the remaining time."""

import threading
import time
from collections.abc import Callable
from uuid import UUID

from codegen import GemmProblem, KernelConfig
from codegen.workers.cache import CompileCache
from db.queries import (
    jobs,
    shape_sets,
)
from db.schema import (
    ShapeSet,
    ShapeSetMember,
)
from hal import DeviceSpec
from service.cluster.executor import OpenedDevice
from service.errors import Conflict, NotFound
from service.jobs.job_runs import ClaimedJob, JobEnd
from service.jobs.measurement_reuse import known_of
from service.jobs.store import DbTrialStore
from service.jobs.tuning import Tuning
from service.jobs.worker import Worker
from service.row_mapping import problem_from_json
from tuner.measure.isa_check import Compilation
from tuner.measure.measure import Compiler
from tuner.measure.measurement_reuse import KnownTimes
from tuner.session.history import wall_s
from tuner.session.trial import Trial
from tuner.shapes.allocation import Progress
from tuner.shapes.kept import KeptReferences

Task = Callable[[ClaimedJob, threading.Event], JobEnd]


class CountingCompiler:
    """A compiler that counts requests, by whether the cache has the result."""

    def __init__(self, compiler: Compiler, cache: CompileCache) -> None:
        self._compiler, self._cache = compiler, cache
        self.compiled = self.reused = 0

    @property
    def workers(self) -> int:
        """Maximum number of concurrent compilations."""
        return self._compiler.workers

    @property
    def busy_s(self) -> float:
        """Seconds with at least one compilation running."""
        return self._compiler.busy_s

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Compilation:
        """Start to compile."""
        known = self._cache.holds(problem, config, spec)
        self.reused += known
        self.compiled += not known
        return self._compiler.compile(problem, config, spec)


class JobRunner:
    """Runner of tasks as jobs of a worker: claimed, the lease extended, requeued or ended by the task's result."""

    def __init__(self, tuning: Tuning, worker: Callable[[Task], Worker]) -> None:
        self._tuning = tuning
        self._task: Task = lambda _job, _interrupt: JobEnd.PAUSED
        self._worker = worker(lambda job, interrupt: self._task(job, interrupt))

    def stop(self) -> None:
        """End the current task after its current trial, and run no other."""
        self._worker.stop()

    def run(self, job_id: UUID, task: Task) -> None:
        """Run a job; do nothing if it is over.

        Raises:
            Conflict: another process runs the job.
        """
        self._task = task
        if self._worker.run_one(job_id):
            return
        with self._tuning.database.read() as session:
            job = jobs.get(session, job_id)
        if job is not None and job.status == "running":
            raise Conflict(f"job {job.id} of the set is run by {job.worker}; wait for it, or stop it there")


class SetState:
    """One run of a set on its device; `device` is None where times are predicted."""

    def __init__(
        self,
        tuning: Tuning,
        set_id: UUID,
        spec: DeviceSpec,
        device: OpenedDevice | None,
        pool: Compiler,
        runner: JobRunner,
        stopped: threading.Event,
    ) -> None:
        self.tuning, self.set_id, self.spec, self.device = tuning, set_id, spec, device
        self.pool = CountingCompiler(pool, CompileCache(tuning.cache))
        self.runner, self._stopped = runner, stopped
        self.references = KeptReferences()
        self.trials: dict[int, list[Trial]] = {}
        self.problems: dict[int, GemmProblem] = {}
        self.progress: dict[int, Progress] = {}
        wanted = self.read()
        self.members, self.trials_budget, self.within = wanted.members, wanted.budget_trials, wanted.within
        self.seconds_budget = wanted.budget_seconds
        self._stored_s = time.monotonic()
        self._ends_s = self._stored_s + wanted.budget_seconds - wanted.spent_s
        for member in self.members:
            self.refresh(member)

    def read(self) -> ShapeSet:
        """Return the current row of the set.

        Raises:
            NotFound: there is none.
        """
        return read_set(self.tuning, self.set_id)

    @property
    def left_s(self) -> float:
        """Return the remaining seconds of the budget; negative if overspent."""
        return self._ends_s - time.monotonic()

    def is_over(self) -> bool:
        """Return whether this run was stopped or the set cancelled."""
        return self._stopped.is_set() or self.read().status != "active"

    def refresh(self, member: ShapeSetMember) -> None:
        """Reread the trials of a shape."""
        store = DbTrialStore(self.tuning.database, self.tuning.artifacts, member.job_id, "")
        with self.tuning.database.read() as session:
            job = jobs.get(session, member.job_id)
        assert job is not None  # the member refers to it
        ended = [trial for trial in store.trials() if trial.outcome is not None]
        outcomes = [trial.outcome for trial in ended if trial.outcome is not None]
        self.trials[member.id] = ended
        self.problems[member.id] = problem_from_json(job.problem.definition)
        self.progress[member.id] = Progress(
            member.weight,
            tuple(trial.time_us for trial in ended),
            sum(map(wall_s, outcomes)),
            job.status not in ("queued", "running"),
        )

    def known(self, job: ClaimedJob) -> KnownTimes | None:
        """Return the reusable measurements of a shape on this device; None without reuse or a device."""
        if not job.spec.reuse or self.device is None:
            return None
        return known_of(self.tuning.database, job.id, job.spec.problem, self.spec)

    def note_spent(self) -> None:
        """Store what was spent since the last call."""
        now_s, pool = time.monotonic(), self.pool
        with self.tuning.database.write() as session:
            shape_sets.spend(session, self.set_id, now_s - self._stored_s, pool.compiled, pool.reused)
        self._stored_s, pool.compiled, pool.reused = now_s, 0, 0


def read_set(tuning: Tuning, set_id: UUID) -> ShapeSet:
    """Return the current row of a set.

    Raises:
        NotFound: there is none.
    """
    with tuning.database.read() as session:
        found = shape_sets.get(session, set_id)
    if found is None:
        raise no_set(set_id)
    return found


def no_set(set_id: UUID) -> NotFound:
    """Return the error for a set that does not exist."""
    return NotFound(f"set of shapes {set_id} does not exist; `xetune shapes` lists those that do")
