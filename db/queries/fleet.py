"""Aggregates of all jobs by device and period: outcomes of trials, work, prediction errors and gains.

A trial counts in the period in which its job was created. Imported jobs do not count: they were not run here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import (
    CTE,
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    and_,
    case,
    column,
    func,
    literal,
    select,
    values,
)
from sqlalchemy.orm import Session, aliased

from db.schema.base import UtcDateTime
from db.schema.job import ACTIVE_STATUSES, Job
from db.schema.target import Device
from db.schema.trial import Measurement, Prediction, PredictionError, Trial


class Period(NamedTuple):
    """A span of time: `begin` belongs to it, `end` does not."""

    begin: datetime
    end: datetime


@dataclass(frozen=True, slots=True, order=True)
class OutcomeCount:
    """Number of trials of a device (a slug) with a status, in the period at a `place` of the list."""

    device: str
    place: int
    status: str
    count: int


class Work(NamedTuple):
    """Jobs of a device in a period, how many failed, and the wall seconds of those that ran."""

    device: str
    place: int
    jobs: int
    failed: int
    seconds: float


@dataclass(frozen=True, slots=True, order=True)
class Median:
    """Median of `count` values of a device in a period; `kind` tells which values."""

    device: str
    place: int
    kind: str
    count: int
    value: float


class PeriodState(NamedTuple):
    """Summary of the jobs of a period, which differs once one was added, ran, ended or was re-measured.

    `trials` are the trials of jobs that are not over.
    """

    jobs: int
    active: int
    timed: int
    newest: datetime | None
    finished: datetime | None
    trials: int


MEASURED, EMULATED, PREDICTED = "measured", "emulated", "predicted"
"""Kinds of gains: of re-measured, interleaved times without and with emulated DPAS, and of predicted times."""


def first_job_at(session: Session) -> datetime | None:
    """Return when the oldest job was created that was not imported; None without one."""
    return session.scalar(select(Job.created_at).where(Job.origin.is_(None)).order_by(Job.created_at).limit(1))


def devices(session: Session) -> list[str]:
    """Return the slugs of the devices that have jobs."""
    used = select(Job.id).where(Job.device_id == Device.id).exists()
    return list(session.scalars(select(Device.slug).where(used).distinct().order_by(Device.slug)))


def states(session: Session, periods: Sequence[Period]) -> list[PeriodState]:
    """Return the state of each period; reads trials only of jobs that are not over."""
    of, is_active = _jobs(periods), Job.status.in_(ACTIVE_STATUSES)
    columns = (
        of.c.place,
        func.count(),
        func.sum(case((is_active, 1), else_=0)),
        func.count(Job.best_trial_id) + func.count(Job.compared_best_us),
        func.max(Job.created_at),
        func.max(Job.finished_at),
    )
    query = select(*columns).join(of, of.c.id == Job.id).group_by(of.c.place)
    trials = select(of.c.place, func.count()).join(Job, Job.id == of.c.id).join(Trial, Trial.job_id == Job.id)
    trials = trials.where(is_active, Trial.status != "pending").group_by(of.c.place)
    running = dict(session.execute(trials).all())
    found = {
        place: PeriodState(jobs, active, timed, newest, finished, running.get(place, 0))
        for place, jobs, active, timed, newest, finished in session.execute(query)
    }
    return [found.get(place, PeriodState(0, 0, 0, None, None, 0)) for place in range(len(periods))]


def outcomes(session: Session, periods: Sequence[Period]) -> list[OutcomeCount]:
    """Count the ended trials by device, period and status."""
    # First by job: the index of trials has them in this order, so that only a few rows a job are sorted.
    by_job = select(Trial.job_id, Trial.status, func.count().label("count")).where(Trial.status != "pending")
    jobs = _jobs(periods)
    by_job = by_job.where(Trial.job_id.in_(select(jobs.c.id))).group_by(Trial.job_id, Trial.status).cte("by_job")
    keys = jobs.c.device, jobs.c.place, by_job.c.status
    count = func.sum(by_job.c["count"]).cast(BigInteger)  # PostgreSQL sums bigint as numeric, which is a Decimal here
    query = select(*keys, count).join(jobs, jobs.c.id == by_job.c.job_id).group_by(*keys)
    return [OutcomeCount(*row) for row in session.execute(query)]


def work(session: Session, periods: Sequence[Period]) -> list[Work]:
    """Count the jobs by device and period, and add up their wall times."""
    jobs = _jobs(periods)
    failed = func.sum(case((Job.status == "failed", 1), else_=0))
    columns = jobs.c.device, jobs.c.place, func.count(), failed, func.coalesce(func.sum(Job.total_s), 0.0)
    query = select(*columns).join(Job, Job.id == jobs.c.id).group_by(jobs.c.device, jobs.c.place)
    return [Work(*row) for row in session.execute(query)]


def prediction_errors(session: Session, periods: Sequence[Period]) -> list[Median]:
    """Return the median factor, at least 1, between predicted and measured times."""
    jobs, ratio = _jobs(periods), PredictionError.ratio
    query = (
        select(jobs.c.device, jobs.c.place, literal(PREDICTED), case((ratio < 1, 1 / ratio), else_=ratio))
        .join(Trial, Trial.job_id == jobs.c.id)
        .join(PredictionError, PredictionError.trial_id == Trial.id)
    )
    return _medians(session, query)


def gains(session: Session, periods: Sequence[Period]) -> list[Median]:
    """Return the median speedup of the best over the default, by evidence."""
    jobs, best, default = _jobs(periods), aliased(Prediction), aliased(Prediction)
    kind = case((Measurement.label == "native", MEASURED), else_=EMULATED)
    measured = (
        select(jobs.c.device, jobs.c.place, kind, Job.compared_default_us / Job.compared_best_us)
        .join(Job, Job.id == jobs.c.id)
        .join(Measurement, Measurement.trial_id == Job.best_trial_id)
        .where(Job.compared_best_us.is_not(None))
    )
    first, won = aliased(Trial), aliased(Trial)
    predicted = (
        select(jobs.c.device, jobs.c.place, literal(PREDICTED), default.time_us / best.time_us)
        .join(Job, Job.id == jobs.c.id)
        .join(won, and_(won.id == Job.best_trial_id, won.status == "predicted"))
        .join(best, best.trial_id == won.id)
        .join(first, and_(first.job_id == jobs.c.id, first.number == 0))
        .join(default, default.trial_id == first.id)
    )
    return [*_medians(session, measured), *_medians(session, predicted)]


def _jobs(periods: Sequence[Period]) -> CTE:
    """Return id, device (a slug) and place of the period of all jobs that were created in one."""
    spans = values(column("place", Integer), column("begin", UtcDateTime), column("end", UtcDateTime))
    span = spans.data([(place, *period) for place, period in enumerate(periods)]).cte("span")
    query = (
        select(Job.id, Device.slug.label("device"), span.c.place)
        .join(Job, and_(Job.created_at >= span.c.begin, Job.created_at < span.c.end))
        .join(Device, Device.id == Job.device_id)
        .where(Job.origin.is_(None))
    )
    return query.cte("jobs")


def _medians(session: Session, query: Select[str, int, str, float]) -> list[Median]:
    names = ("device", "place", "kind", "value")
    labelled = (found.label(name) for found, name in zip(query.selected_columns, names, strict=True))
    of = query.with_only_columns(*labelled).cte("of")
    keys: tuple[ColumnElement[object], ...] = (of.c.device, of.c.place, of.c.kind)
    rank = func.row_number().over(partition_by=keys, order_by=of.c.value).label("rank")
    count = func.count().over(partition_by=keys).label("count")
    ranked = select(*keys, of.c.value, rank, count).cte("ranked")
    middle = 2 * ranked.c.rank >= ranked.c["count"], 2 * ranked.c.rank <= ranked.c["count"] + 2
    grouped = ranked.c.device, ranked.c.place, ranked.c.kind, ranked.c["count"]
    return [
        Median(*row)
        for row in session.execute(
            select(*grouped, func.avg(ranked.c.value)).where(*middle).group_by(*grouped).order_by(*grouped)
        )
    ]
