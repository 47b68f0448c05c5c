"""Jobs in lists: a page of them by filters, each in a line."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session, joinedload

from db import trials
from db.models import Device, Job, Problem, Trial
from service.dashboard.evidence import TimeFigure
from service.dashboard.naming import problem_label
from service.dashboard.of_problems import ProblemFilter, identity, problem_words
from service.dashboard.trial_time import trial_figure

PAGE_SIZE = 50
STATUSES = ("queued", "running", "succeeded", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job in a list. `done` counts trials that began; the budget is both trials and seconds.

    `gain` is how many times as fast the best is as the default, where both were measured in turns: `in_turns` are these
    times, in us. `origin` is where it ran, if it was imported.
    """

    id: str
    status: str
    problem: str
    problem_key: str
    device: str
    best: TimeFigure | None
    in_turns: tuple[float, float] | None
    done: int
    budget_trials: int
    budget_seconds: float
    created_at: datetime
    message: str | None
    origin: str | None = None

    @property
    def gain(self) -> float | None:
        """How many times as fast the best is as the default."""
        return None if self.in_turns is None else self.in_turns[0] / self.in_turns[1]


@dataclass(frozen=True, slots=True)
class Filter(ProblemFilter):
    """Which jobs a reader asked for. `before` is the last of the page before."""

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
    """What the words of an address ask for."""
    return Filter(
        **problem_words(of),
        status=of.get("status", "")[:40].replace("\0", ""),
        before=identity(of.get("before", "")),
    )


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
    columns = (Job.problem, Job.device, Job.imported)
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
    best = best_times(session, jobs)
    return (job_row(job, best.get(job.id), begun.get(job.id, 0)) for job in jobs)


def job_row(job: Job, best: TimeFigure | None, done: int) -> JobRow:
    """A job in a line. A job that is asked to stop and has not yet is "cancelling"."""
    stopping = job.cancel_requested and job.status in ("queued", "running")
    default_us, best_us = job.compared_default_us, job.compared_best_us
    return JobRow(
        id=str(job.id),
        status="cancelling" if stopping else job.status,
        problem=problem_label(job.problem),
        problem_key=job.problem.key,
        device=job.device.slug,
        best=best,
        in_turns=None if default_us is None or best_us is None else (default_us, best_us),
        done=done,
        budget_trials=job.budget_trials,
        budget_seconds=job.budget_seconds,
        created_at=job.created_at,
        message=job.error,
        origin=None if job.imported is None else job.imported.origin,
    )


def best_times(session: Session, jobs: Sequence[Job]) -> dict[UUID, TimeFigure]:
    """The times of the best trials of jobs whose problems and devices are loaded."""
    query = select(Trial).where(Trial.id.in_([j.best_trial_id for j in jobs if j.best_trial_id is not None]))
    by_id = {j.id: j for j in jobs}
    found = session.scalars(query.options(*trials.evidence_loads()))
    figures = {t.job_id: trial_figure(t, by_id[t.job_id].device.slug, by_id[t.job_id].problem) for t in found}
    return {job_id: figure for job_id, figure in figures.items() if figure is not None}


def _begun(session: Session, job_ids: Sequence[UUID]) -> dict[UUID, int]:
    # Trials are numbered from 0, and the highest number is found by the index: counting would read every row.
    highest = select(func.max(Trial.number)).where(Trial.job_id == Job.id).correlate(Job).scalar_subquery()
    rows = session.execute(select(Job.id, highest).where(Job.id.in_(job_ids)))
    numbers: list[tuple[UUID, int | None]] = [(job_id, last) for job_id, last in rows]
    return {job_id: 0 if last is None else last + 1 for job_id, last in numbers}
