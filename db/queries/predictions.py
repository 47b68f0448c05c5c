"""Queries on predictions and the measurements of the same configuration, problem and device that judge them."""

from collections.abc import Collection, Mapping
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Double, Row, Select, String, column, distinct, func, select, values
from sqlalchemy.orm import Session, contains_eager, joinedload

from db.queries import trials
from db.schema import (
    Device,
    Job,
    Measurement,
    Prediction,
    PredictionError,
    Problem,
    Trial,
)

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
    measured = _measured(session, problem_id, device, config_hashes)
    own = {trial_id: (trial_id, median_us) for trial_id, _, median_us in measured}
    fastest = {config_hash: (trial_id, median_us) for trial_id, config_hash, median_us in reversed(measured)}
    changed: set[UUID] = set()
    for prediction in _predictions(session, problem_id, device, config_hashes) if measured else ():
        by = own.get(prediction.trial_id) or fastest.get(prediction.trial.config_hash)
        if by is not None and _set_error(prediction, *by):
            changed.add(prediction.trial.job_id)
    session.flush()
    _correct_best(session, changed)


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


def _set_error(prediction: Prediction, measured_trial_id: int, median_us: float) -> bool:
    """Judge a prediction by a measurement; return False if nothing changed."""
    ratio, before = median_us / prediction.time_us, prediction.error
    if before is None:
        prediction.error = PredictionError(measured_trial_id=measured_trial_id, ratio=ratio)
    elif (before.measured_trial_id, before.ratio) != (measured_trial_id, ratio):
        before.measured_trial_id, before.ratio = measured_trial_id, ratio
    else:
        return False
    return True


def _jobs_of(problem_id: int, device: str) -> Select[UUID]:
    return select(Job.id).join(Job.device).where(Job.problem_id == problem_id, Device.slug == device)


def _measured(
    session: Session, problem_id: int, device: str, config_hashes: Collection[str] | None
) -> list[Row[int, str, float]]:
    """Select trial, hash of its configuration and median, the fastest first; reused measurements count once."""
    query = select(Trial.id, Trial.config_hash, Measurement.median_us).join(Trial.measurement)
    query = query.where(Trial.job_id.in_(_jobs_of(problem_id, device)), ~Trial.reused.has())
    if config_hashes is not None:
        query = query.where(Trial.config_hash.in_(config_hashes))
    return list(session.execute(query.order_by(Measurement.median_us, Trial.id)))


def _predictions(
    session: Session, problem_id: int, device: str, config_hashes: Collection[str] | None
) -> list[Prediction]:
    query = select(Prediction).join(Prediction.trial).where(Trial.job_id.in_(_jobs_of(problem_id, device)))
    if config_hashes is not None:
        query = query.where(Trial.config_hash.in_(config_hashes))
    loads = contains_eager(Prediction.trial), joinedload(Prediction.error)
    return list(session.scalars(query.options(*loads)))


def _correct_best(session: Session, job_ids: Collection[UUID]) -> None:
    """Set the best trial of jobs that measured nothing by their judged predictions."""
    for job in session.scalars(select(Job).where(Job.id.in_(job_ids))):
        measured = select(Trial.id).join(Measurement).where(Trial.job_id == job.id).limit(1)
        if session.scalar(measured) is None:
            best = trials.best(session, job.id)
            job.best_trial_id = None if best is None else best.id
