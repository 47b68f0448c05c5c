"""Queries on predictions and the measurements of the same configuration, problem and device that judge them."""

from collections.abc import Collection, Mapping
from functools import cache
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import (
    Connection,
    Double,
    Insert,
    Select,
    SelectBase,
    String,
    Update,
    bindparam,
    column,
    distinct,
    func,
    insert,
    or_,
    select,
    update,
    values,
)
from sqlalchemy.orm import Session, contains_eager

from db.queries import jobs
from db.queries.batch import Answer, Batch, batch
from db.queries.insert import insert_row
from db.schema.base import table_of
from db.schema.job import Job
from db.schema.reuse import Reuse
from db.schema.target import Device, Problem
from db.schema.trial import Measurement, Prediction, PredictionError, Trial

_ROWS_AT_ONCE = 1_000  # bounds memory: there may be tens of thousands


class Judged(NamedTuple):
    """One measured trial and what a model predicted for it. Times in microseconds, `ratio` measured over predicted."""

    problem_key: str
    model_version: str
    ratio: float
    measured_us: float
    low_us: float
    high_us: float

    @property
    def inside(self) -> bool:
        """True if the measured time lies in the interval."""
        return self.low_us <= self.measured_us <= self.high_us


def judge(session: Session, problem_id: int, device: str, config_hash: str | None = None) -> None:
    """Judge the predictions of a problem on a device (a slug) by measurements, and update the best trials of its jobs.

    A trial's own measurement comes before those of others, of which the fastest counts. Jobs that measured
    nothing themselves get the best trial that follows. `config_hash` limits the configurations; None: all.
    """
    session.flush()
    with batch(session.connection()) as single:
        found = timed(single, problem_id, device, config_hash)
    judge_timed(session, found)


def timed(batch: Batch, problem_id: int, device: str, config_hash: str | None) -> Answer:
    """Ask for what `judge` needs; `judge_timed` takes the answer."""
    limits = {"problem_id": problem_id, "slug": device} | ({} if config_hash is None else {"config_hash": config_hash})
    return batch.execute(_timed_statement(is_limited=config_hash is not None), limits)


def judge_itself(batch: Batch, trial_id: int, median_us: float, predicted_us: float) -> None:
    """Judge the prediction of a trial by its own measurement."""
    insert_row(batch, PredictionError, _error(trial_id, trial_id, median_us, predicted_us))


def judge_timed(session: Session | Connection, found: Answer) -> None:
    """Judge the predictions that were found, where that is not done yet."""
    rows = [_Timed(*row) for row in found.rows]
    # A reused measurement counts once: with the trial that made it.
    measured = [row for row in rows if row.median_us is not None and row.reused_id is None]
    own = {row.trial_id: row for row in measured}
    fastest = {row.config_hash: row for row in reversed(measured)}
    new: list[dict[str, int | float]] = []
    changed: list[dict[str, int | float]] = []
    affected = set[UUID]()
    for row in rows:
        by = own.get(row.trial_id) or fastest.get(row.config_hash)
        if by is None or by.median_us is None or row.predicted_us is None:
            continue
        ratio = by.median_us / row.predicted_us
        if (row.judged_by, row.ratio) != (by.trial_id, ratio):
            error = _error(row.trial_id, by.trial_id, by.median_us, row.predicted_us)
            (new if row.judged_by is None else changed).append(error)
            affected.add(row.job_id)
    if new:
        session.execute(_insert_errors(), new)
    if changed:
        session.execute(_update_errors(), [{f"of_{name}": value for name, value in each.items()} for each in changed])
    _correct_best(session, affected - {row.job_id for row in rows if row.median_us is not None})


def _error(trial_id: int, measured_trial_id: int, median_us: float, predicted_us: float) -> dict[str, int | float]:
    return {"trial_id": trial_id, "measured_trial_id": measured_trial_id, "ratio": median_us / predicted_us}


def judged(session: Session, device: str, problem_keys: Collection[str] | None = None) -> list[Judged]:
    """Return the judged predictions for a device (a slug): one for each measured trial and model version, oldest first.

    `problem_keys` limits the problems; None: all.
    """
    query = (
        select(
            PredictionError.measured_trial_id,
            Problem.key,
            Prediction.model_version,
            PredictionError.ratio,
            Measurement.median_us,
            Prediction.low_us,
            Prediction.high_us,
        )
        .join(Prediction, Prediction.trial_id == PredictionError.trial_id)
        .join(Measurement, Measurement.trial_id == PredictionError.measured_trial_id)
        .join(Trial, Trial.id == PredictionError.trial_id)
        .join(Job, Job.id == Trial.job_id)
        .join(Problem, Problem.id == Job.problem_id)
        .join(Device, Device.id == Job.device_id)
        .where(Device.slug == device)
        .order_by(PredictionError.trial_id)
        .execution_options(yield_per=_ROWS_AT_ONCE)
    )
    if problem_keys is not None:
        query = query.where(Problem.key.in_(problem_keys))
    # The same configuration may be predicted in several jobs: a measurement counts once per model.
    found = {(row[0], row[2]): Judged(*row[1:]) for row in session.execute(query)}
    return list(found.values())


def count_judged(session: Session) -> int:
    """Return the number of judged predictions, of all problems and devices."""
    return session.scalars(select(func.count()).select_from(PredictionError)).one()


def runners_up(session: Session, *, problem_key: str | None = None, device: str | None = None) -> list[Trial]:
    """Return predicted trials that were never measured, the fastest first, with prediction, and job with
    problem and device.

    Optionally of one problem or device (a slug). Each configuration appears once, with its newest prediction.
    """
    query = (
        select(Trial)
        .join(Trial.job)
        .join(Job.problem)
        .join(Job.device)
        .join(Trial.prediction)
        .outerjoin(PredictionError, PredictionError.trial_id == Trial.id)
        .where(Trial.status == "predicted", PredictionError.trial_id.is_(None))
        .options(
            contains_eager(Trial.job).options(contains_eager(Job.problem), contains_eager(Job.device)),
            contains_eager(Trial.prediction),
        )
        .order_by(Trial.id)
    )
    if problem_key is not None:
        query = query.where(Problem.key == problem_key)
    if device is not None:
        query = query.where(Device.slug == device)
    newest = {(t.job.problem_id, t.job.device.slug, t.config_hash): t for t in session.scalars(query)}
    return sorted(newest.values(), key=_predicted_us)


def count_runners_up(session: Session, device: str, faster_than_us: Mapping[str, float]) -> dict[str, int]:
    """Count the unmeasured configurations predicted faster than a limit on a device (a slug), by key of the problem."""
    than = values(column("key", String), column("us", Double)).data(list(faster_than_us.items())).cte("than")
    query = select(Problem.key, func.count(distinct(Trial.config_hash))).join(than, than.c.key == Problem.key)
    query = query.join(Job, Job.problem_id == Problem.id).join(Job.device)
    query = query.join(Trial, Trial.job_id == Job.id).join(Trial.prediction).outerjoin(Prediction.error)
    unmeasured = Trial.status == "predicted", PredictionError.trial_id.is_(None)
    counts = query.where(*unmeasured, Device.slug == device, Prediction.time_us < than.c.us).group_by(Problem.key)
    return dict(session.execute(counts).all()) if faster_than_us else {}


def _predicted_us(trial: Trial) -> float:
    assert trial.prediction is not None
    return trial.prediction.time_us


class _Timed(NamedTuple):
    """A trial with a measured median or a prediction, and what judges that so far. `reused_id` is its own if reused."""

    trial_id: int
    job_id: UUID
    config_hash: str
    median_us: float | None
    reused_id: int | None
    predicted_us: float | None
    judged_by: int | None
    ratio: float | None


@cache
def _timed_statement(*, is_limited: bool) -> SelectBase:
    """Return the query of the trials of `:problem_id` on `:slug` and, if limited, `:config_hash`, the fastest first."""
    trial, measurement, prediction = table_of(Trial), table_of(Measurement), table_of(Prediction)
    reuse, error, job, device = table_of(Reuse), table_of(PredictionError), table_of(Job), table_of(Device)
    same = select(job.c.id).join(device, device.c.id == job.c.device_id)
    same = same.where(job.c.problem_id == bindparam("problem_id"), device.c.slug == bindparam("slug"))
    joined = trial.outerjoin(measurement, measurement.c.trial_id == trial.c.id)
    joined = joined.outerjoin(reuse, reuse.c.trial_id == trial.c.id)
    joined = joined.outerjoin(prediction, prediction.c.trial_id == trial.c.id)
    joined = joined.outerjoin(error, error.c.trial_id == trial.c.id)
    query = select(
        trial.c.id,
        trial.c.job_id,
        trial.c.config_hash,
        measurement.c.median_us,
        reuse.c.trial_id,
        prediction.c.time_us,
        error.c.measured_trial_id,
        error.c.ratio,
    ).select_from(joined)
    is_timed = or_(measurement.c.median_us.is_not(None), prediction.c.time_us.is_not(None))
    query = query.where(trial.c.job_id.in_(same), is_timed).order_by(measurement.c.median_us, trial.c.id)
    return query.where(trial.c.config_hash == bindparam("config_hash")) if is_limited else query


@cache
def _insert_errors() -> Insert:
    return insert(table_of(PredictionError))


@cache
def _update_errors() -> Update:
    table = table_of(PredictionError)
    by = {name: bindparam(f"of_{name}") for name in ("measured_trial_id", "ratio")}
    return update(table).where(table.c.trial_id == bindparam("of_trial_id")).values(by)


def _correct_best(session: Session | Connection, job_ids: Collection[UUID]) -> None:
    """Set the best trial of jobs that measured nothing by their judged predictions."""
    for job_id in session.scalars(_unmeasured_statement(), {"ids": list(job_ids)}).all() if job_ids else ():
        jobs.update_best(session, job_id)


@cache
def _unmeasured_statement() -> Select[UUID]:
    measured = select(Trial.id).join(Measurement).where(Trial.job_id == Job.id)
    return select(Job.id).where(Job.id.in_(bindparam("ids", expanding=True)), ~measured.exists())
