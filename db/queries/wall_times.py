"""Queries on what jobs took."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db.queries.insert import insert_missing
from db.schema import JobEffort


def add(session: Session, job_id: UUID, seconds: Mapping[str, float], device_restarts: int) -> None:
    """Add what a part of a run took, in seconds by column, to what was taken before."""
    taken: dict[str, float | int] = {**seconds, "device_restarts": device_restarts}
    if insert_missing(session, JobEffort, {"job_id": job_id, **taken}):
        return
    more = {name: getattr(JobEffort, name) + value for name, value in taken.items()}
    session.execute(update(JobEffort).where(JobEffort.job_id == job_id).values(**more))


def total_s(session: Session, job_id: UUID) -> float:
    """Seconds of wall time that the runs of a job took so far."""
    return session.scalar(select(JobEffort.total_s).where(JobEffort.job_id == job_id)) or 0.0
