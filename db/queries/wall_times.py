"""Queries on the wall times of jobs."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from db.schema import Job


def add(session: Session, job_id: UUID, seconds: Mapping[str, float], device_restarts: int) -> None:
    """Add the wall times of a part of a run to the job's totals, in seconds by column."""
    taken: dict[str, float | int] = {**seconds, "device_restarts": device_restarts}
    sums = {name: func.coalesce(getattr(Job, name), 0) + value for name, value in taken.items()}
    session.execute(update(Job).where(Job.id == job_id).values(**sums))


def total_s(session: Session, job_id: UUID) -> float:
    """Return the wall time of all runs of a job so far, in seconds."""
    return session.scalar(select(Job.total_s).where(Job.id == job_id)) or 0.0
