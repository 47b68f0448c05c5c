"""Queries on the configurations that jobs were given to measure."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.schema import Candidate
from db.schema.base import JsonObject


def add(session: Session, job_id: UUID, configs: Sequence[tuple[str, JsonObject]]) -> None:
    """Give a job configurations to measure, each with its hash, in that order."""
    for position, (config_hash, config) in enumerate(configs):
        session.add(Candidate(job_id=job_id, position=position, config=config, config_hash=config_hash))
    session.flush()


def of_job(session: Session, job_id: UUID) -> list[JsonObject]:
    """The configurations that a job was given, in order; none of a job that searches."""
    query = select(Candidate.config).where(Candidate.job_id == job_id).order_by(Candidate.position)
    return list(session.scalars(query))
