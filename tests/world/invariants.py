"""Invariants that hold after every commit, at every launch, for every answer, and at the end."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from codegen import GemmProblem, KernelConfig
from service.api.kernels.lookup.schemas import LookupOut
from service.api.kernels.schemas import KernelOut
from service.api.schedules.cron import next_due, parse_cron
from service.artifacts import ArtifactStore
from tests.world.imports import Imported
from tests.world.machines import SPEC, Truth
from tests.world.virtual import Broken, Process, Scheduler

_OVER = ("succeeded", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job as the invariants see it."""

    status: str
    worker: str | None
    lease_until: str | None
    attempts: int
    error: str | None
    budget_trials: int
    budget_seconds: float
    total_s: float | None
    stop: str | None
    origin: str | None


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A trial as the invariants see it."""

    config_hash: str
    status: str
    ended_at: str | None
    kernel_id: Any
    proof_kind: str


@dataclass(frozen=True, slots=True)
class State:
    """The rows of a moment."""

    jobs: dict[Any, JobRow]
    trials: dict[tuple[Any, int], TrialRow]
    coordinators: dict[str, tuple[str, int, str]]
    fires: dict[Any, tuple[Any, str, str, int, int]]


_EMPTY = State({}, {}, {}, {})


@dataclass
class Invariants:
    """Compares the rows before and after each commit."""

    path: Path
    artifacts: ArtifactStore
    scheduler: Scheduler
    truth: Truth
    before: State = _EMPTY
    slack_s: float = 400.0  # a launch, a comparison and their waits may end after the time budget
    files: set[int] = field(default_factory=set)
    first_due: dict[Any, str | None] = field(default_factory=dict)  # None once a clock that went back moved it back
    last_due: dict[Any, str | None] = field(default_factory=dict)
    jobs_of_keys: dict[str, UUID] = field(default_factory=dict)
    checks: int = 0

    def __post_init__(self) -> None:
        self.rows = sqlite3.connect(self.path, isolation_level=None)
        self.imported = Imported(self.rows, self.scheduler)

    def read(self) -> State:
        """Read what is compared."""
        ask = self.rows.execute
        return State(
            jobs={
                row[0]: JobRow(*row[1:])
                for row in ask(
                    "SELECT id, status, worker, lease_until, attempts, error, budget_trials, budget_seconds, total_s,"
                    " stop, origin FROM job"
                )
            },
            trials={
                (row[0], row[1]): TrialRow(*row[2:])
                for row in ask(
                    "SELECT job_id, number, config_hash, status, ended_at, kernel_id, proof_kind FROM trial"
                    " ORDER BY job_id, number"
                )
            },
            coordinators={
                row[0]: (row[1], row[2], row[3])
                for row in ask("SELECT name, holder, fence, expires_at FROM coordinator")
            },
            fires={
                row[0]: tuple(row[1:])
                for row in ask("SELECT id, schedule_id, due_at, outcome, due_times, by_hand FROM schedule_fire")
            },
        )

    def after_commit(self, process: Process) -> None:
        """Check the rows after a commit of `process`.

        Raises:
            Broken: one of the invariants.
        """
        self.checks += 1
        before, now = self.before, self.read()
        self.before = now
        self._coordinators(before, now, process)
        self._jobs(before, now, process)
        self._trials(before, now, process)
        self._fires(before, now)
        self._artifacts()

    def at_launch(self, process: Process, task: str, problem: GemmProblem, config: KernelConfig) -> None:
        """Check that the trial of what a job runs now was recorded before.

        Raises:
            Broken: it was not.
        """
        query = (
            "SELECT count(*) FROM trial JOIN job ON job.id = trial.job_id JOIN problem ON problem.id = job.problem_id"
            " WHERE config_hash = ? AND problem.key = ?"
        )
        values = [config.key, problem.key]
        if task.startswith("job "):
            query, values = f"{query} AND job.id = ?", [*values, UUID(task.removeprefix("job ")).hex]
        if not self.rows.execute(query, values).fetchone()[0]:
            raise Broken(f"{task} runs {config.key[:8]}, and no row says so: a kill would lose this trial")
        self.scheduler.tell(f"launches {config.key[:8]}")

    def at_answer(self, key: str, job_id: UUID) -> None:
        """Check that each answer to one request names the same job.

        Raises:
            Broken: it does not.
        """
        first = self.jobs_of_keys.setdefault(key, job_id)
        if first != job_id:
            raise Broken(f"request {key} made jobs {first} and {job_id}")

    def at_lookup(self, found: LookupOut) -> None:
        """Check a kernel that is served as exact.

        Raises:
            Broken: it is not proven, not of this device and driver, or its files are not whole.
        """
        if found.stale or found.kernel is None:
            return
        kernel = found.kernel
        query = (
            "SELECT t.status, t.proof_kind, m.driver, d.slug, k.withdrawn, k.content_hash FROM trial t"
            " JOIN kernel k ON k.id = t.kernel_id JOIN device d ON d.id = k.device_id"
            " JOIN measurement m ON m.trial_id = t.id WHERE k.id = ?"
        )
        rows = self.rows.execute(query, [kernel.id.hex]).fetchall()
        good = [row for row in rows if row[0] == "measured" and row[1] != "none"]
        if not good:
            raise Broken(f"kernel {kernel.id} is served and was never proven")
        for _, _, driver, slug, withdrawn, content_hash in good:
            if (driver, slug, withdrawn) != (SPEC.driver, SPEC.id, None):
                raise Broken(f"kernel {kernel.id} is served for {SPEC.id}, {SPEC.driver}: it is of {slug}, {driver}")
            if not any(right for (_, made), right in self.truth.right.items() if made == content_hash):
                raise Broken(f"kernel {kernel.id} is served, and no run of it was right")
        self._files_of(kernel)

    def at_imported(self, found: LookupOut) -> None:
        """Check a kernel that is served for the device of imported files.

        Raises:
            Broken: it is not what a whole file says, or its files are not whole.
        """
        if found.kernel is not None:
            self.imported.at_lookup(found.kernel)
            self._files_of(found.kernel)

    def at_end(self) -> None:
        """Check what must hold when all work is done.

        Raises:
            Broken: it does not.
        """
        self.files.clear()
        self._artifacts()
        for key in [*self.before.trials]:
            job = self.before.jobs[key[0]]
            is_late = job.stop == "seconds"  # no time was left to repeat it
            if self.before.trials[key].status == "pending" and job.status == "succeeded" and not is_late:
                raise Broken(f"job {_short(key[0])} succeeded, and its trial {key[1]} never ended")
        left = [p for p in self.artifacts.root.rglob("*") if p.is_file() and p.suffix not in ("", ".tmp")]
        if left:
            raise Broken(f"strange files among the artifacts: {left}")

    # After a commit.

    def _coordinators(self, before: State, now: State, process: Process) -> None:
        for name, (holder, fence, expires_at) in now.coordinators.items():
            was = before.coordinators.get(name)
            if was is None:
                continue
            if fence < was[1] or (holder != was[0] and fence == was[1]):
                raise Broken(f"fence of {name} went from {was[1]} to {fence}, holder from {was[0]} to {holder}")
            if holder != was[0] and not self._may_take(was[0], was[2], process):
                raise Broken(f"{process} took the lease of {name}, which {was[0]} held until {was[2]}")
            _ = expires_at

    def _jobs(self, before: State, now: State, process: Process) -> None:
        for job_id, job in now.jobs.items():
            was = before.jobs.get(job_id)
            if was == job:
                continue
            if job.error is not None and job.error.startswith("internal:"):
                raise Broken(f"job {_short(job_id)}: {job.error}")
            if was is None:
                if job.origin is not None:
                    self.imported.at_job(job_id)
                continue
            if job.status == "running" != was.status and not self._leads(now, process):
                raise Broken(f"{process} took job {_short(job_id)}, and does not lead the cluster")
            if was.status != job.status:
                self.scheduler.tell(f"job {_short(job_id)}: {was.status} -> {job.status} {job.error or ''}")
            if was.status in _OVER and (job.status, job.attempts) != (was.status, was.attempts):
                raise Broken(f"job {_short(job_id)} was {was.status}, and is {job.status} again")
            if was.worker is not None and job.worker != was.worker and was.worker != process.name:
                ends = [row[2] for row in before.coordinators.values() if row[0] == was.worker]
                if not any(self._may_take(was.worker, end, process) for end in [was.lease_until, *ends]):
                    raise Broken(f"{process} took job {_short(job_id)} from {was.worker}, whose lease runs")
            if job.total_s is not None and job.total_s > job.budget_seconds * max(job.attempts, 1) + self.slack_s:
                raise Broken(f"job {_short(job_id)} took {job.total_s:.0f} s of {job.budget_seconds:.0f}")
        if lost := before.jobs.keys() - now.jobs.keys():
            raise Broken(f"jobs vanished: {lost}")

    def _trials(self, before: State, now: State, process: Process) -> None:
        for key, was in before.trials.items():
            row = now.trials.get(key)
            if row is None:
                raise Broken(f"trial {key[1]} of job {_short(key[0])} vanished")
            if was.status != "pending" and row != was:
                raise Broken(f"trial {key[1]} of job {_short(key[0])} ended twice: {was} and {row}")
            if row.config_hash != was.config_hash:
                raise Broken(f"trial {key[1]} of job {_short(key[0])} has another configuration now")
        changed = [key for key, row in now.trials.items() if before.trials.get(key) != row]
        for job_id, number in changed:
            self._trial(job_id, number, before, now, process)

    def _trial(self, job_id: Any, number: int, before: State, now: State, process: Process) -> None:
        row, job = now.trials[job_id, number], now.jobs[job_id]
        self.scheduler.tell(f"trial {number} of job {_short(job_id)}: {row.status}")
        if job.origin is not None:
            self.imported.at_trial(job_id, number)
            return
        if job.worker != process.name:
            raise Broken(f"{process} wrote trial {number} of job {_short(job_id)}, which {job.worker} has")
        if not self._leads(now, process):
            raise Broken(f"{process} wrote trial {number} of job {_short(job_id)}, and does not lead the cluster")
        numbers = [n for j, n in now.trials if j == job_id]
        if numbers != list(range(len(numbers))):
            raise Broken(f"job {_short(job_id)} has trials {numbers}")
        if len(numbers) > job.budget_trials and not self._is_member(job_id):
            raise Broken(f"job {_short(job_id)} has {len(numbers)} trials of {job.budget_trials}")
        pending = [n for (j, n), each in now.trials.items() if j == job_id and each.status == "pending"]
        if len(pending) > 1:
            raise Broken(f"job {_short(job_id)} has begun trials {pending} together")
        if row.status == "measured":
            self._measured(job_id, number, process)

    def _measured(self, job_id: Any, number: int, process: Process) -> None:
        """Check a new measurement against what really ran, unless it was taken from an earlier job."""
        query = (
            "SELECT k.content_hash, m.median_us, m.driver, r.trial_id FROM trial t JOIN kernel k ON k.id = t.kernel_id"
            " JOIN measurement m ON m.trial_id = t.id LEFT JOIN reuse r ON r.trial_id = t.id"
            " WHERE t.job_id = ? AND t.number = ?"
        )
        content_hash, _, driver, reused = self.rows.execute(query, [job_id, number]).fetchone()
        if driver != SPEC.driver:
            raise Broken(f"trial {number} of job {_short(job_id)} names driver {driver}")
        if reused is None and not self.truth.right.get((process.name, content_hash), False):
            raise Broken(f"trial {number} of job {_short(job_id)} is measured, and its results were wrong")

    def _leads(self, now: State, process: Process) -> bool:
        """Return whether a process may give out work: one of a cluster needs its lease."""
        return process.role != "cluster" or now.coordinators.get("cluster", ("",))[0] == process.name

    def _is_member(self, job_id: Any) -> bool:
        query = "SELECT count(*) FROM shape_set_member WHERE job_id = ?"
        return bool(self.rows.execute(query, [job_id]).fetchone()[0])

    def _fires(self, before: State, now: State) -> None:
        query = "SELECT id, cron, timezone, hours, next_due_at FROM schedule"
        for schedule_id, cron_text, zone, hours, next_due_at in self.rows.execute(query).fetchall():
            first = self.first_due.setdefault(schedule_id, next_due_at)
            if next_due_at is not None and next_due_at < self.last_due.get(schedule_id, next_due_at):
                first = self.first_due[schedule_id] = None
            self.last_due[schedule_id] = next_due_at
            if before.fires.keys() == now.fires.keys():
                continue
            fires = [row for row in now.fires.values() if row[0] == schedule_id and not row[4]]
            if len({row[1] for row in fires}) < len(fires):
                raise Broken(f"a due time was fired twice: {fires}")
            if next_due_at is None or first is None or not fires:
                continue
            covered, cron = sum(row[3] for row in fires), parse_cron(cron_text, zone, hours)
            due, count = _moment(first), 0
            while due is not None and due < _moment(next_due_at):
                due, count = next_due(cron, due), count + 1
            self.scheduler.tell(f"schedule fired: {covered} of {count} due times are handled")
            if covered != count:
                raise Broken(f"{count} times were due before {next_due_at}, and runs say {covered}: {fires}")

    def _artifacts(self) -> None:
        for row_id, name, sha256 in self.rows.execute("SELECT id, name, sha256 FROM artifact ORDER BY id").fetchall():
            if row_id not in self.files:
                self.files.add(row_id)
                self._file(name, sha256)

    def _files_of(self, kernel: KernelOut) -> None:
        for name, sha256 in self.rows.execute("SELECT name, sha256 FROM artifact WHERE kernel_id = ?", [kernel.id.hex]):
            self._file(name, sha256)

    def _file(self, name: str, sha256: str) -> None:
        path = self.artifacts.path(sha256)
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
            raise Broken(f"a row names {name} {sha256[:8]}, whose file is not there or damaged")

    def _may_take(self, holder: str, until: str | None, by: Process) -> bool:
        """Return whether `by` may take what `holder` has until then: that is over by its clock, or the holder dead.

        Its clock may have jumped back since it decided, in the transaction that ends now.
        """
        now = by.host.now(self.scheduler.now_s)
        ended = until is not None and _moment(until) <= max(now, by.locked_at or now)
        return ended or holder == by.name or not any(p.alive and p.name == holder for p in self.scheduler.processes)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _short(job_id: Any) -> str:
    return str(job_id)[-6:]


Check = Callable[[Invariants], None]
