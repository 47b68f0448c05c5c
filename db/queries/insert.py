"""Insert-if-missing for either backend, without aborting the transaction."""

from collections.abc import Mapping

from sqlalchemy import inspect
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from db.schema.base import Base


def insert_missing(session: Session, model: type[Base], values: Mapping[str, object]) -> bool:
    """Insert `values` as a row of `model`; return False when a unique constraint reports an existing row."""
    construct = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    key = inspect(model).primary_key[0]
    inserted = construct(model).values(**values).on_conflict_do_nothing().returning(key)
    return session.scalar(inserted) is not None
