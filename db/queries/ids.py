"""Ids of rows, newest first."""

from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.schema.base import Base


def newest(session: Session, table: type[Base], limit: int, before: UUID | None) -> list[UUID]:
    """Return up to `limit` ids older than `before`, of a table whose ids grow with time."""
    column = table.__table__.c.id
    query = select(column).order_by(column.desc()).limit(limit)
    return list(session.scalars(query if before is None else query.where(column < before)))
