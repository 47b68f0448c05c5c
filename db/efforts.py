"""Queries on what jobs took."""

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import update
from sqlalchemy.orm import Session

from db.insert import insert_missing
from db.models import JobEffort


def add(session: Session, job_id: UUID, seconds: Mapping[str, float], device_restarts: int) -> None:
    """Add what a run took, in seconds by column, to what the runs before it took."""
    taken: dict[str, float | int] = {**seconds, "device_restarts": device_restarts}
    if insert_missing(session, JobEffort, {"job_id": job_id, **taken}):
        return
    more = {name: getattr(JobEffort, name) + value for name, value in taken.items()}
    session.execute(update(JobEffort).where(JobEffort.job_id == job_id).values(**more))
