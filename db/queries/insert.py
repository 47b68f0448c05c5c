"""Inserts by prepared statements, and the lock that serializes imports.

The ORM takes several times as long for a row; statements that are made once are compiled once.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Insert, insert, inspect, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from db.schema.base import Base, table_of


def insert_row(session: Session, model: type[Base], values: Mapping[str, object]) -> None:
    """Insert `values` as a row of `model`."""
    session.execute(_insert(model), dict(values))


def insert_missing(session: Session, model: type[Base], values: Mapping[str, object]) -> Any | None:
    """Insert `values` as a row of `model`; return its primary key, or None when a unique constraint reports a row.

    The transaction is not aborted.
    """
    return session.scalar(_insert_missing(model, session.get_bind().dialect.name, is_returning=True), dict(values))


def insert_all_missing(session: Session, model: type[Base], rows: Sequence[Mapping[str, object]]) -> None:
    """Insert those rows that no unique constraint reports as existing."""
    if rows:
        statement = _insert_missing(model, session.get_bind().dialect.name, is_returning=False)
        session.execute(statement, [dict(row) for row in rows])


@cache
def _insert(model: type[Base]) -> Insert:
    return insert(table_of(model))


@cache
def _insert_missing(model: type[Base], dialect: str, *, is_returning: bool) -> Insert:
    construct = postgresql.insert if dialect == "postgresql" else sqlite.insert
    inserted = construct(table_of(model)).on_conflict_do_nothing()
    return inserted.returning(inspect(model).primary_key[0]) if is_returning else inserted


_IMPORT_LOCK = 0x7865_7476  # any number that only imports use


def one_import_at_a_time(session: Session) -> None:
    """Wait until no other transaction imports rows: two with the same jobs would both add them.

    SQLite's write lock does the same.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _IMPORT_LOCK})
