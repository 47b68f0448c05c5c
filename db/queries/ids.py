"""Ids of rows, newest first."""

from uuid import UUID

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from db.schema.base import Base


def newest(
    session: Session, table: type[Base], limit: int, before: UUID | None, condition: ColumnElement[bool] | None = None
) -> list[UUID]:
    """Return up to `limit` ids older than `before`, of a table whose ids grow with time, of rows with a condition."""
    column = table.__table__.c.id
    conditions = [] if condition is None else [condition]
    if before is not None:
        conditions.append(column < before)
    return list(session.scalars(select(column).where(*conditions).order_by(column.desc()).limit(limit)))
