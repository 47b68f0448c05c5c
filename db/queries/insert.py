"""Inserts that do not abort the transaction, and the lock that serializes imports."""

from collections.abc import Mapping

from sqlalchemy import inspect, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from db.schema.base import Base


def insert_missing(session: Session, model: type[Base], values: Mapping[str, object]) -> bool:
    """Insert `values` as a row of `model`; return False when a unique constraint reports an existing row."""
    construct = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    key = inspect(model).primary_key[0]
    inserted = construct(model).values(**values).on_conflict_do_nothing().returning(key)
    return session.scalar(inserted) is not None


_IMPORT_LOCK = 0x7865_7476  # any number that only imports use


def one_import_at_a_time(session: Session) -> None:
    """Wait until no other transaction imports rows: two with the same jobs would both add them.

    SQLite's write lock does the same.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _IMPORT_LOCK})
