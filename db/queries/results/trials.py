"""Queries on trials; the best one by the rules of `tuner/session/best.py`.

Of predicted trials those within the resolution of the least time are a tie, which the default wins, else the
least burden of those that gain more than the resolution over it.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Connection,
    Executable,
    Select,
    Update,
    bindparam,
    case,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.orm import Session, aliased, contains_eager, joinedload, undefer

from db.queries.batch import Answer, Batch
from db.schema.base import table_of
from db.schema.job import Job
from db.schema.kernel import Kernel
from db.schema.reuse import Reuse
from db.schema.trial import Measurement, Prediction, PredictionError, Trial
from db.values import JsonObject


class Tie(NamedTuple):
    """Verified predicted trials of a job within the resolution of the least time; `fastest` is the first with that."""

    fastest: int
    least_us: float
    trials: int


class Begun(NamedTuple):
    """A trial as its begin stored it, and its status."""

    id: int
    status: str
    config_hash: str
    config: JsonObject


class Point(NamedTuple):
    """A trial as a chart shows it; a measured one may have a prediction too."""

    number: int
    status: str
    median_us: float | None
    predicted_us: float | None


def begun(session: Session | Connection, job_id: UUID, number: int) -> Begun | None:
    """Return what a job's trial of that number began with, and its status."""
    row = session.execute(_begun_statement(), {"job_id": job_id, "number": number}).first()
    return None if row is None else Begun(*row)


@cache
def _begun_statement() -> Executable:
    columns = table_of(Trial).c
    query = select(columns.id, columns.status, columns.config_hash, columns.config)
    return query.where(columns.job_id == bindparam("job_id"), columns.number == bindparam("number"))


def end(batch: Batch, trial_id: int, columns: Mapping[str, object]) -> Answer:
    """Store the columns of a trial's outcome; the answer counts no row if the trial is not pending."""
    values = {f"of_{name}": value for name, value in columns.items()}
    return batch.execute(_end_statement(tuple(columns)), {"trial_id": trial_id, **values})


@cache
def _end_statement(names: tuple[str, ...]) -> Update:
    table = table_of(Trial)
    values = {name: bindparam(f"of_{name}", type_=table.c[name].type) for name in names}
    return update(table).where(table.c.id == bindparam("trial_id"), table.c.status == "pending").values(values)


def find_clash(session: Session | Connection, job_id: UUID, number: int, config_hash: str) -> int | None:
    """Return the number of a trial of the job that already has that number or that configuration."""
    same = or_(Trial.number == number, Trial.config_hash == config_hash)
    return session.scalar(select(Trial.number).where(Trial.job_id == job_id, same).limit(1))


def get(session: Session, job_id: UUID, number: int) -> Trial | None:
    """Return one trial with its times and kernel."""
    return session.scalars(_whole().where(Trial.job_id == job_id, Trial.number == number)).first()


def find_any(session: Session, job_id: UUID, numbers: Collection[int], config_hashes: Collection[str]) -> list[Trial]:
    """Return the trials of a job that have one of these numbers or configurations, with times and kernels."""
    named = or_(Trial.number.in_(numbers), Trial.config_hash.in_(config_hashes))
    # Without the errors of predictions: these refer to other trials of the job, which would come without kernels.
    loads = (
        joinedload(Trial.measurement),
        joinedload(Trial.prediction),
        joinedload(Trial.reused).joinedload(Reuse.source),
        joinedload(Trial.kernel),
    )
    return list(session.scalars(select(Trial).options(*loads).where(Trial.job_id == job_id, named)))


def list_page(
    session: Session,
    job_id: UUID,
    *,
    after: int = -1,
    limit: int | None = None,
    statuses: Collection[str] = (),
    kernels: bool = True,
) -> list[Trial]:
    """Return the trials of a job by number, those above `after`, at most `limit`, with times and `kernels`.

    `statuses` limits them if given. Manifests of kernels are most of the data: lists omit them.
    """
    loads = _loads() if kernels else evidence_loads()
    query = select(Trial).options(*loads).where(Trial.job_id == job_id, Trial.number > after).order_by(Trial.number)
    if statuses:
        query = query.where(Trial.status.in_(statuses))
    return list(session.scalars(query.limit(limit)))


def best(session: Session, job_id: UUID) -> Trial | None:
    """Return the trial with the least median; if none was measured, the best predicted one that is verified.

    A predicted trial whose configuration was measured in another job has that median, if its own results are
    verified or the kernel is the same. A trial that reused the measurement of an earlier job is never the
    best.
    """
    measured, predicted = _best_whole_queries()
    found = session.scalars(measured, {"job_id": job_id}).first()
    return found or session.scalars(predicted, {"job_id": job_id}).first()


def best_id(session: Session | Connection, job_id: UUID) -> int | None:
    """Return the id of the same trial, at lower cost."""
    measured, predicted = _best_id_queries()
    found = session.scalar(measured, {"job_id": job_id})
    return found if found is not None else session.scalar(predicted, {"job_id": job_id})


@cache
def _best_whole_queries() -> tuple[Select[Trial], Select[Trial]]:
    measured, predicted = _best_queries()
    return measured.options(*_loads()), predicted.options(*_loads())


@cache
def _best_id_queries() -> tuple[Select[int], Select[int]]:
    measured, predicted = _best_queries()
    return measured.with_only_columns(Trial.id), predicted.with_only_columns(Trial.id)


@cache
def _best_queries() -> tuple[Select[Trial], Select[Trial]]:
    """Return the queries for the best trial of `:job_id` by a measured median (its own or another's), and by
    prediction. To make them takes longer than to execute them.
    """
    of_job = Trial.job_id == bindparam("job_id")
    whole = select(Trial).where(of_job, ~Trial.reused.has()).limit(1)
    there, own, other = aliased(Measurement), aliased(Kernel), aliased(Kernel)
    median_us = func.coalesce(Measurement.median_us, there.median_us)
    judged_by = aliased(Trial)
    measured = (
        whole.outerjoin(Measurement, Measurement.trial_id == Trial.id)
        .outerjoin(PredictionError, PredictionError.trial_id == Trial.id)
        .outerjoin(there, there.trial_id == PredictionError.measured_trial_id)
        .outerjoin(judged_by, judged_by.id == PredictionError.measured_trial_id)
        .outerjoin(own, own.id == Trial.kernel_id)
        .outerjoin(other, other.id == judged_by.kernel_id)
        .where(own.withdrawn.is_(None), other.withdrawn.is_(None))
        .where(median_us.is_not(None), or_(Trial.proof_kind != "none", own.content_hash == other.content_hash))
        .order_by(median_us, Trial.number)
    )
    verified = select(Trial).where(of_job, Trial.status == "predicted", Trial.proof_kind != "none")
    verified = verified.outerjoin(Trial.kernel).where(Kernel.withdrawn.is_(None))
    return measured, select_best_predicted(verified.join(Prediction), Trial.number.expression)


def count_by_status(session: Session, job_id: UUID) -> dict[str, int]:
    """Return the number of trials of a job by status; statuses without trials are left out."""
    query = select(Trial.status, func.count()).where(Trial.job_id == job_id).group_by(Trial.status)
    return dict(session.execute(query).all())


def count_by_status_of(session: Session, job_ids: Collection[UUID]) -> dict[UUID, dict[str, int]]:
    """Return the same for several jobs; jobs without trials are left out."""
    query = select(Trial.job_id, Trial.status, func.count()).where(Trial.job_id.in_(job_ids))
    counts: dict[UUID, dict[str, int]] = {job_id: {} for job_id in job_ids}
    for job_id, status, count in session.execute(query.group_by(Trial.job_id, Trial.status)):
        counts[job_id][status] = count
    return counts


def history(session: Session, job_id: UUID) -> list[Point]:
    """Return every trial of a job by number, reduced to what a chart shows."""
    columns = select(Trial.number, Trial.status, Measurement.median_us, Prediction.time_us)
    query = columns.select_from(Trial).outerjoin(Measurement).outerjoin(Prediction).where(Trial.job_id == job_id)
    return [Point(*row) for row in session.execute(query.order_by(Trial.number))]


def time_loads(*, are_joined: bool = False):  # of a type private to SQLAlchemy
    """Return the loader options for the times of trials, and the errors of predictions.

    In a query that joins measurements and predictions already, they `are_joined`.
    """
    load = contains_eager if are_joined else joinedload
    return [load(Trial.measurement), load(Trial.prediction).joinedload(Prediction.error), undefer(Trial.origin)]


def job_load(*, is_joined: bool = False):  # of a type private to SQLAlchemy
    """Return the loader option for what the job of a trial tells of its time; `is_joined` as for `time_loads`."""
    told = Job.status, Job.best_trial_id, Job.compared_default_us, Job.compared_best_us
    return (contains_eager if is_joined else joinedload)(Trial.job).load_only(*told, raiseload=True)


def judge_loads(*, are_joined: bool = False):  # of a type private to SQLAlchemy
    """Return the loader options for jobs, numbers and times of the trials that judge predictions."""
    load = contains_eager if are_joined else joinedload
    there = load(Trial.prediction).joinedload(Prediction.error).joinedload(PredictionError.measured_trial)
    columns = there.load_only(Trial.job_id, Trial.number, raiseload=True)
    return [columns, there.joinedload(Trial.measurement), there.undefer(Trial.origin)]


def evidence_loads():  # of a type private to SQLAlchemy
    """Return `time_loads` and `judge_loads`, with jobs and numbers of the trials that are reused."""
    source = joinedload(Trial.reused).joinedload(Reuse.source)
    return [*time_loads(), *judge_loads(), source.load_only(Trial.job_id, Trial.number, raiseload=True)]


def _whole() -> Select[Trial]:
    return select(Trial).options(*_loads())


def _loads():  # of a type private to SQLAlchemy
    return *evidence_loads(), joinedload(Trial.kernel)


RESOLUTION = 1.07


def select_best_predicted(verified: Select[Trial], last: ColumnElement[int]) -> Select[Trial]:
    """Select the best of `verified`: predicted trials with their predictions joined. `last` breaks ties."""
    least_us = verified.with_only_columns(func.min(Prediction.time_us)).correlate(None).scalar_subquery()
    defaults = verified.where(Trial.number == 0)
    default_us = defaults.with_only_columns(func.min(Prediction.time_us)).correlate(None).scalar_subquery()
    gains = or_(Trial.number == 0, default_us.is_(None), Prediction.time_us * RESOLUTION <= default_us)
    tied = verified.where(Prediction.time_us <= least_us * RESOLUTION, gains)
    return tied.order_by(Trial.number != 0, Prediction.burden, Prediction.high_us, last).limit(1)


def ties(session: Session, job_ids: Collection[UUID]) -> dict[UUID, Tie]:
    """Return the tie of each job that has predicted, verified trials, with one query for all."""
    verified = (Trial.job_id.in_(job_ids), Trial.status == "predicted", Trial.proof_kind != "none")
    times = select(Trial.job_id, func.min(Prediction.time_us).label("us")).join(Prediction).where(*verified)
    least = times.group_by(Trial.job_id).subquery()
    first = func.min(case((Prediction.time_us == least.c.us, Trial.number)))
    query = select(Trial.job_id, first, least.c.us, func.count()).join(Prediction).where(*verified)
    query = query.join(least, least.c.job_id == Trial.job_id).where(Prediction.time_us <= least.c.us * RESOLUTION)
    return {job_id: Tie(*rest) for job_id, *rest in session.execute(query.group_by(Trial.job_id, least.c.us))}


def best_of_predicted(rows: Sequence[Trial]) -> Trial:
    """Return the best of predicted trials that are loaded with their predictions."""
    timed = [(trial.prediction, trial) for trial in rows if trial.prediction is not None]
    least_us = min(prediction.time_us for prediction, _ in timed)
    default_us = min((p.time_us for p, trial in timed if trial.number == 0), default=math.inf)
    ties = [
        (p, trial)
        for p, trial in timed
        if p.time_us <= least_us * RESOLUTION and (trial.number == 0 or p.time_us * RESOLUTION <= default_us)
    ]
    return min(ties, key=lambda tie: (tie[1].number != 0, tie[0].burden, tie[0].high_us, tie[1].id))[1]
