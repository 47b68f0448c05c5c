"""Queries on the initial configurations of searches, and for candidates: the best trials of the nearest problems."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, case, func, select, update
from sqlalchemy.orm import Session, contains_eager, joinedload

from db.queries.results import trials
from db.schema.job import Job
from db.schema.kernel import Kernel
from db.schema.target import Device, Problem
from db.schema.trial import Measurement, Prediction, Trial
from db.values import JsonObject

if TYPE_CHECKING:
    from db.schema.recording import RecordedTrial


def put(session: Session, job_id: UUID, warm_starts: Sequence[JsonObject]) -> None:
    """Store the initial configurations of a job, best first."""
    session.execute(update(Job).where(Job.id == job_id).values(warm_starts=list(warm_starts)))


def of_job(session: Session, job_id: UUID) -> list[JsonObject] | None:
    """Return the initial configurations of a job, best first; None until they are chosen."""
    return session.scalar(select(Job.warm_starts).where(Job.id == job_id))


def of_trials(session: Session, chosen: Iterable[tuple[int, float]]) -> list[JsonObject]:
    """Return warm starts from trials of other jobs, each with the distance of its problem."""
    job = joinedload(Trial.job)
    options = job.joinedload(Job.problem), job.joinedload(Job.device)
    distances = dict(chosen)
    query = select(Trial).where(Trial.id.in_(distances)).options(*options).execution_options(populate_existing=True)
    rows = {row.id: row for row in session.scalars(query)}
    return [
        warm_start(rows[id], rows[id].job.problem, rows[id].job.device, far, job=str(rows[id].job_id))
        for id, far in distances.items()
    ]


def warm_start(
    row: "Trial | RecordedTrial", problem: Problem, device: Device, distance: float, **source: str
) -> JsonObject:
    """Return a trial as a warm start, which says where it is from."""
    return {
        "job": None,
        "recording": None,
        **source,
        "number": row.number,
        "definition": problem.definition,
        "device": device.slug,
        "config": row.config,
        "distance": distance,
    }


TYPES = ("dtype_a", "dtype_b", "dtype_c", "dtype_acc", "transpose_a", "transpose_b")
"""Columns that similar problems have in common."""
SIZES = ("m", "n", "k", "batch")


class Near(NamedTuple):
    """A job with a result, of a problem with the same types and layout. Sizes in elements."""

    job_id: UUID
    problem_id: int
    sizes: tuple[int, int, int, int]  # m, n, k, batch
    device_id: int
    dynamic: bool


def alike(session: Session, types: Mapping[str, object], device: str | None = None) -> list[Near]:
    """Return jobs with a best trial, of problems with those types (by column), on a device (a slug); newest first."""
    dynamic = Problem.definition["dynamic"].as_boolean()
    columns = Job.id, Problem.id, Problem.m, Problem.n, Problem.k, Problem.batch, Job.device_id, dynamic
    query = select(*columns).join(Job.problem).where(Job.best_trial_id.is_not(None))
    for name in TYPES:
        query = query.where(getattr(Problem, name) == types[name])
    if device is not None:
        query = query.where(Job.device_id.in_(select(Device.id).where(Device.slug == device)))
    found = session.execute(query.order_by(Job.id.desc()))
    return [Near(row[0], row[1], (row[2], row[3], row[4], row[5]), row[6], bool(row[7])) for row in found]


def distance(a: Sequence[int], b: Sequence[int]) -> float:
    """Return the distance between sizes: the root of the sum of squared base-2 logarithms of their ratios."""
    return math.hypot(*(math.log2(one / other) for one, other in zip(a, b, strict=True)))


def definitions(session: Session, problem_ids: Collection[int]) -> dict[int, Problem]:
    """Return problems by id."""
    return {row.id: row for row in session.scalars(select(Problem).where(Problem.id.in_(problem_ids)))}


def devices(session: Session, device_ids: Collection[int]) -> dict[int, Device]:
    """Return devices by id."""
    return {row.id: row for row in session.scalars(select(Device).where(Device.id.in_(device_ids)))}


def fastest(session: Session, job_id: UUID, limit: int) -> list[Trial]:
    """Return verified trials of a job with job, problem and device: its best, then the fastest, measured first."""
    query = select(Trial).join(Trial.job).join(Job.problem).join(Job.device)
    query = query.outerjoin(Trial.measurement).outerjoin(Trial.prediction)
    query = query.where(Trial.job_id == job_id, Trial.proof_kind != "none", ~Trial.reused.has())
    time_us = func.coalesce(Measurement.median_us, Prediction.time_us)
    query = query.where(time_us.is_not(None)).order_by(*_best_first(time_us))
    job = contains_eager(Trial.job)
    query = query.options(
        job.contains_eager(Job.problem), job.contains_eager(Job.device), *trials.time_loads(are_joined=True)
    )
    return list(session.scalars(query.limit(limit)))


def _best_first(time_us: ColumnElement[float]) -> tuple[ColumnElement[Any], ...]:
    """Return the order of the trials of a job: the one that it reports as its best, then the fastest ones.

    A predicted trial that is faster within the resolution of the model is not the best.
    """
    is_other = case((Trial.id == Job.best_trial_id, 0), else_=1)
    return is_other, Measurement.median_us.is_(None), time_us, Trial.number.expression


class Fast(NamedTuple):
    """A verified trial of a job: its best, or one of the fastest. `measured`: it has a measured time.
    `content_hash` is that of its kernel; None if none is stored.
    """

    job_id: UUID
    trial_id: int
    config: JsonObject
    problem_id: int
    measured: bool
    content_hash: str | None


def fastest_of(session: Session, job_ids: Collection[UUID], limit: int) -> list[Fast]:
    """Return the same as `fastest` for several jobs, in one query; those of one job are in order."""
    time_us = func.coalesce(Measurement.median_us, Prediction.time_us)
    place = func.row_number().over(partition_by=Trial.job_id, order_by=_best_first(time_us)).label("place")
    measured = Measurement.trial_id.is_not(None).label("measured")
    ranked = select(Trial.id, place, measured, Kernel.content_hash).join(Trial.job)
    ranked = ranked.outerjoin(Trial.measurement).outerjoin(Trial.prediction)
    ranked = ranked.where(Trial.job_id.in_(job_ids), Trial.proof_kind != "none", ~Trial.reused.has())
    ranked = ranked.outerjoin(Trial.kernel).where(Kernel.withdrawn.is_(None))
    ranks = ranked.where(time_us.is_not(None)).subquery()
    columns = Trial.job_id, Trial.id, Trial.config, Job.problem_id, ranks.c.measured, ranks.c.content_hash
    query = select(*columns).join(ranks, ranks.c.id == Trial.id)
    query = query.join(Trial.job).where(ranks.c.place <= limit).order_by(Trial.job_id, ranks.c.place)
    return [Fast(*row) for row in session.execute(query)]


def whole(session: Session, trial_id: int) -> Trial:
    """Return a trial with its times, its kernel and what its job tells of them."""
    loads = *trials.time_loads(), trials.job_load(), joinedload(Trial.kernel)
    return session.scalars(select(Trial).where(Trial.id == trial_id).options(*loads)).one()
