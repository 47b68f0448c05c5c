"""Queries on predictions and the measurements of the same configuration, problem and device that judge them."""

from collections.abc import Collection, Mapping
from functools import cache
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Double, Select, String, bindparam, column, distinct, func, insert, select, update, values
from sqlalchemy.orm import Session, contains_eager

from db.queries import jobs
from db.schema import (
    Device,
    Job,
    Measurement,
    Prediction,
    PredictionError,
    Problem,
    Trial,
)
from db.schema.base import table_of

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


def judge(session: Session, problem_id: int, device: str, config_hashes: Collection[str] | None = None) -> None:
    """Judge the predictions of a problem on a device (a slug) by measurements, and update the best trials of its jobs.

    A trial's own measurement comes before those of others, of which the fastest counts. Jobs that measured
    nothing themselves get the best trial that follows. `config_hashes` limits the configurations; None: all.
    """
    session.flush()
    limits = {"problem_id": problem_id, "slug": device, "hashes": list(config_hashes or ())}
    measured_query, predicted_query = _judging_statements(is_limited=config_hashes is not None)
    measured = session.execute(measured_query, limits).all()
    own = {trial_id: (trial_id, median_us) for trial_id, _, median_us in measured}
    fastest = {config_hash: (trial_id, median_us) for trial_id, config_hash, median_us in reversed(measured)}
    new: list[dict[str, int | float]] = []
    changed: list[dict[str, int | float]] = []
    affected = set[UUID]()
    for trial_id, job_id, config_hash, time_us, *before in session.execute(predicted_query, limits) if measured else ():
        by = own.get(trial_id) or fastest.get(config_hash)
        if by is None or before == [by[0], by[1] / time_us]:
            continue
        error = {"trial_id": trial_id, "measured_trial_id": by[0], "ratio": by[1] / time_us}
        (changed if any(before) else new).append(error)
        affected.add(job_id)
    if new:
        session.execute(insert(table_of(PredictionError)), new)
    if changed:
        session.execute(update(PredictionError), changed)
    _correct_best(session, affected)


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


@cache
def _judging_statements(
    *, is_limited: bool
) -> tuple[Select[int, str, float], Select[int, UUID, str, float, int, float]]:
    """Return the queries of `judge`, for `:problem_id`, `:slug` and, if limited, `:hashes`.

    First trial, hash of its configuration and median, the fastest first; reused measurements count once. Then
    trial, job, hash, predicted time, and the measurement and ratio that judge it so far, NULL if nothing does.
    """
    same = select(Job.id).join(Job.device).where(Job.problem_id == bindparam("problem_id"))
    of = [Trial.job_id.in_(same.where(Device.slug == bindparam("slug")))]
    if is_limited:
        of.append(Trial.config_hash.in_(bindparam("hashes", expanding=True)))
    measured = select(Trial.id, Trial.config_hash, Measurement.median_us).join(Trial.measurement)
    measured = measured.where(*of, ~Trial.reused.has()).order_by(Measurement.median_us, Trial.id)
    judged = PredictionError.measured_trial_id, PredictionError.ratio
    predicted = select(Trial.id, Trial.job_id, Trial.config_hash, Prediction.time_us, *judged)
    predicted = predicted.join(Trial.prediction).outerjoin(Prediction.error).where(*of)
    return measured, predicted


def _correct_best(session: Session, job_ids: Collection[UUID]) -> None:
    """Set the best trial of jobs that measured nothing by their judged predictions."""
    for job_id in session.scalars(_unmeasured_statement(), {"ids": list(job_ids)}).all() if job_ids else ():
        jobs.update_best(session, job_id)


@cache
def _unmeasured_statement() -> Select[UUID]:
    measured = select(Trial.id).join(Measurement).where(Trial.job_id == Job.id)
    return select(Job.id).where(Job.id.in_(bindparam("ids", expanding=True)), ~measured.exists())
