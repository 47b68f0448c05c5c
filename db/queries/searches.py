"""Queries on what searches were made from."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.schema import SearchStart
from db.schema.base import JsonObject


def put(session: Session, job_id: UUID, told: int, given: JsonObject) -> None:
    """Keep what a search was made from that was told so many outcomes first, in place of one that was told as many."""
    session.merge(SearchStart(job_id=job_id, told=told, given=given))


def of_job(session: Session, job_id: UUID) -> list[SearchStart]:
    """The searches of a job, in order of the outcomes that they were told first."""
    return list(session.scalars(select(SearchStart).where(SearchStart.job_id == job_id).order_by(SearchStart.told)))
