"""Shared query of job pages: evidence of trials' times as columns, and their order."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Float, case, cast, func, select
from sqlalchemy.orm import Session, aliased

from db.schema.job import Job
from db.schema.trial import Measurement, Prediction, PredictionError, Trial
from service.dashboard.evidence import TimeFigure, device_name, measured, predicted
from tuner.session.evidence import NATIVE

OTHER, THERE = aliased(Trial), aliased(Measurement)
"""The trial with the measurement that judges a prediction, and that measurement."""

MEDIAN_US = func.coalesce(Measurement.median_us, THERE.median_us)
_LABEL = func.coalesce(Measurement.label, THERE.label)
GROUP = case((_LABEL == NATIVE, 0), (_LABEL.is_not(None), 1), (Prediction.time_us.is_not(None), 2), else_=3)
"""Trials of one evidence together: measured, emulated, predicted, without a time."""
ORDER = func.coalesce(MEDIAN_US, Prediction.time_us, cast(Trial.number, Float))
"""Within a group the fastest first; those without a time by number."""


@dataclass(frozen=True, slots=True)
class Point:
    """One trial: its number, its status, and its time if it has one.

    `time` is the measurement of its configuration, by job `measured_by` if not by its own, else its
    prediction. `judged` is the prediction with a measurement, `ratio` measured over predicted time.
    """

    number: int
    status: str
    time: TimeFigure | None
    judged: TimeFigure | None = None
    ratio: float | None = None
    measured_by: str | None = None


class _Times(NamedTuple):
    number: int
    status: str
    median: float | None
    p10: float | None
    p90: float | None
    label: str | None
    foreseen: float | None
    low: float | None
    high: float | None
    model: str | None
    ratio: float | None
    there: float | None
    there_p10: float | None
    there_p90: float | None
    there_label: str | None
    by: UUID | None
    origin: str | None


def with_times(query: Any) -> Any:  # of rows of any columns
    """The query on trials with what their times are read from joined."""
    return (
        query.outerjoin(Measurement, Measurement.trial_id == Trial.id)
        .outerjoin(Prediction, Prediction.trial_id == Trial.id)
        .outerjoin(PredictionError, PredictionError.trial_id == Trial.id)
        .outerjoin(OTHER, OTHER.id == PredictionError.measured_trial_id)
        .outerjoin(THERE, THERE.trial_id == OTHER.id)
    )


def points(session: Session, job: Job, numbers: list[int] | None = None) -> list[Point]:
    """The trials of a job by number, or those of these numbers: columns and no objects, there may be thousands."""
    query = with_times(select(Trial.number, Trial.status, *_columns(), OTHER.job_id, OTHER.origin))
    query = query.where(Trial.job_id == job.id)
    if numbers is not None:
        query = query.where(Trial.number.in_(numbers))
    own = device_name(job.device.slug, job.origin)
    flops = job.problem.flops
    return [_point(job, own, flops, _Times(*row)) for row in session.execute(query.order_by(Trial.number))]


def _columns() -> Iterator[Any]:
    yield from (Measurement.median_us, Measurement.p10_us, Measurement.p90_us, Measurement.label)
    yield from (Prediction.time_us, Prediction.low_us, Prediction.high_us, Prediction.model_version)
    yield PredictionError.ratio
    yield from (THERE.median_us, THERE.p10_us, THERE.p90_us, THERE.label)


def _point(job: Job, own: str, flops: int, of: _Times) -> Point:
    foreseen = None
    if of.foreseen is not None:
        foreseen = predicted(of.foreseen, of.low or of.foreseen, of.high or of.foreseen, of.model or "", flops)
    if of.median is not None:
        time = measured(of.median, of.p10 or of.median, of.p90 or of.median, of.label or "", own, flops)
        return Point(of.number, of.status, time, foreseen, of.ratio)
    if foreseen is None or of.there is None:
        return Point(of.number, of.status, foreseen)
    name = device_name(job.device.slug, of.origin or "another job")
    time = measured(of.there, of.there_p10 or of.there, of.there_p90 or of.there, of.there_label or "", name, flops)
    return Point(of.number, of.status, time, foreseen, of.ratio, str(of.by))
