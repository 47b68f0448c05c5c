"""Queries on the initial configurations of searches."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session, joinedload

from db.schema import (
    Device,
    Job,
    Problem,
    RecordedTrial,
    Recording,
    Trial,
)
from db.schema.base import JsonObject


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
        _warm_start(rows[id], rows[id].job.problem, rows[id].job.device, far, job=str(rows[id].job_id))
        for id, far in distances.items()
    ]


def of_recorded(session: Session, chosen: Iterable[tuple[int, float]]) -> list[JsonObject]:
    """Return warm starts from recorded trials, each with the distance of its problem."""
    recording = joinedload(RecordedTrial.recording)
    options = recording.joinedload(Recording.problem), recording.joinedload(Recording.device)
    distances = dict(chosen)
    rows = {
        row.id: (row, row.recording)
        for row in session.scalars(select(RecordedTrial).where(RecordedTrial.id.in_(distances)).options(*options))
    }
    return [
        _warm_start(row, of.problem, of.device, far, recording=of.digest)
        for (row, of), far in ((rows[id], far) for id, far in distances.items())
    ]


def _warm_start(
    row: Trial | RecordedTrial, problem: Problem, device: Device, distance: float, **source: str
) -> JsonObject:
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
