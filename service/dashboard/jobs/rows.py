"""Jobs in lists: a page of them by filters, each in a line."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from db.queries.results import trials
from db.schema.job import Job
from db.schema.target import Device, Problem
from db.schema.trial import Trial
from service.dashboard.evidence import TimeEvidence, TimeFigure, remeasured, trial_figure
from service.dashboard.naming import problem_label
from service.dashboard.problem_filter import (
    ProblemFilter,
    identity,
    misread,
    problem_words,
    unread_id,
    word,
)
from service.job_summary import (
    Basis,
    ReportedTimes,
    reported_times,
)

PAGE_SIZE = 50
STATUSES = ("queued", "running", "succeeded", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job in a list. `done` is the number of trials begun; the budget is both trials and seconds.

    `best` is the reported time of the job, by `reported_times`; `single` is that of the best trial, if different.
    `origin` is the host where it ran, if imported; `builds` is the kernel whose native binary it builds, if it does.
    """

    id: str
    status: str
    problem: str
    problem_key: str
    device: str
    best: TimeFigure | None
    single: TimeFigure | None
    reported_times: ReportedTimes | None
    done: int
    budget_trials: int
    budget_seconds: float
    created_at: datetime
    message: str | None
    origin: str | None = None
    builds: str | None = None

    @property
    def gain(self) -> float | None:
        """Speedup of the best over the default."""
        return None if self.reported_times is None else self.reported_times.gain


@dataclass(frozen=True, slots=True)
class Filter(ProblemFilter):
    """Filters of a list of jobs. `before` is the last job of the previous page."""

    status: str = ""
    before: UUID | None = None

    def link(self, before: UUID | None = None) -> str:
        """The address of these jobs, from the first or after one."""
        return self.address("/jobs", status=self.status, before=before)


@dataclass(frozen=True, slots=True)
class JobList:
    """One page of jobs, newest first; `next` is its address, None on the last."""

    jobs: tuple[JobRow, ...]
    filter: Filter
    devices: tuple[str, ...]
    next: str | None


def understand(of: Mapping[str, str]) -> Filter:
    """Parse the query of a URL."""
    words = problem_words(of)
    words["unread"] += (*misread(of, "status", STATUSES), *unread_id(of))
    return Filter(**words, status=word(of, "status"), before=identity(of.get("before", "")))


def job_list(session: Session, wanted: Filter) -> JobList:
    """A page of the jobs that are wanted."""
    query = select(Job).order_by(Job.id.desc()).limit(PAGE_SIZE + 1)
    if wanted.status:
        query = query.where(Job.status == wanted.status)
    if wanted.device:
        query = query.where(Job.device_id.in_(select(Device.id).where(Device.slug == wanted.device)))
    if asked := wanted.conditions():
        query = query.where(Job.problem_id.in_(select(Problem.id).where(*asked)))
    if wanted.before is not None:
        query = query.where(Job.id < wanted.before)
    columns = (Job.problem, Job.device)
    found = session.scalars(query.options(*(joinedload(column) for column in columns))).all()
    shown = found[:PAGE_SIZE]
    return JobList(
        jobs=tuple(job_rows(session, shown)),
        filter=wanted,
        devices=tuple(session.scalars(select(Device.slug).distinct().order_by(Device.slug))),
        next=wanted.link(shown[-1].id) if len(found) > len(shown) else None,
    )


def job_rows(session: Session, jobs: Sequence[Job]) -> Iterable[JobRow]:
    """These jobs, each in a line, with two queries for all."""
    begun = _begun(session, [job.id for job in jobs])
    times = times_of(session, jobs)
    return (job_row(job, *times.get(job.id, (None, None)), begun.get(job.id, 0)) for job in jobs)


def job_row(job: Job, best: TimeFigure | None, default: TimeFigure | None, done: int) -> JobRow:
    """A job in a line, from the times of its best trial and of trial 0. One asked to stop that runs is "cancelling"."""
    stopping = job.cancel_requested and job.status in ("queued", "running")
    line = None if best is None else reported_times_of(job, best, default)
    return JobRow(
        id=str(job.id),
        status="cancelling" if stopping else job.status,
        problem=problem_label(job.problem),
        problem_key=job.problem.key,
        device=job.device.slug,
        best=None if best is None or line is None else _standing(best, line),
        single=best if line is not None and line.basis is Basis.INTERLEAVED else None,
        reported_times=line,
        done=done,
        budget_trials=job.budget_trials,
        budget_seconds=job.budget_seconds,
        created_at=job.created_at,
        message=job.error,
        origin=job.origin,
        builds=None if job.kernel_id is None else str(job.kernel_id),
    )


def reported_times_of(job: Job, of: TimeFigure, default: TimeFigure | None, *, won: bool = True) -> ReportedTimes:
    """The times that stand for a job, or for a trial that has not won it.

    Those of the trial and of trial 0 count if their evidence is the same; only the winner has interleaved ones.
    """
    alike = default is not None and default.evidence is of.evidence
    return reported_times(
        of.time_us,
        default.time_us if alike and default is not None else None,
        predicted=of.evidence is TimeEvidence.PREDICTED,
        interleaved=(job.compared_default_us, job.compared_best_us) if won else (None, None),
    )


def reported_times_of_trial(session: Session, job: Job, trial: Trial) -> ReportedTimes | None:
    """The same for a trial of a job whose problem and device are loaded; None without a time."""
    _, default = times_of(session, [job]).get(job.id, (None, None))
    of = trial_figure(trial, job.device.slug, job.problem)
    return None if of is None else reported_times_of(job, of, default, won=trial.id == job.best_trial_id)


def _standing(best: TimeFigure, line: ReportedTimes) -> TimeFigure:
    if line.basis is not Basis.INTERLEAVED:
        return replace(best, basis=line.basis)
    return remeasured(best, line.best_us)


def times_of(session: Session, jobs: Sequence[Job]) -> dict[UUID, tuple[TimeFigure | None, TimeFigure | None]]:
    """The times of the best trial and of trial 0 of jobs whose problems and devices are loaded."""
    by_id = {job.id: job for job in jobs if job.best_trial_id is not None}
    best = [job.best_trial_id for job in by_id.values()]
    wanted = Trial.id.in_(best) | (Trial.job_id.in_(by_id) & (Trial.number == 0))
    found: dict[UUID, tuple[TimeFigure | None, TimeFigure | None]] = {}
    for trial in session.scalars(select(Trial).where(wanted).options(*trials.evidence_loads())):
        job = by_id[trial.job_id]
        figure = trial_figure(trial, job.device.slug, job.problem)
        is_best, is_default = trial.id == job.best_trial_id, trial.number == 0
        before = found.get(job.id, (None, None))
        found[job.id] = figure if is_best else before[0], figure if is_default else before[1]
    return found


def _begun(session: Session, job_ids: Sequence[UUID]) -> dict[UUID, int]:
    # Trials are numbered from 0, and the highest number is found by the index: counting would read every row.
    highest = select(func.max(Trial.number)).where(Trial.job_id == Job.id).correlate(Job).scalar_subquery()
    rows = session.execute(select(Job.id, highest).where(Job.id.in_(job_ids)))
    numbers: list[tuple[UUID, int | None]] = [(job_id, last) for job_id, last in rows]
    return {job_id: 0 if last is None else last + 1 for job_id, last in numbers}
