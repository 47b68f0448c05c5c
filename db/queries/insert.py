"""Inserts by prepared statements, and the lock that serializes imports.

The ORM takes several times as long for a row; statements that are made once are compiled once.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Insert, bindparam, insert, inspect, select, text, true, union_all
from sqlalchemy.orm import Session

from db.queries.batch import Answer, Batch
from db.schema.base import Base, table_of

if TYPE_CHECKING:
    from sqlalchemy import Table
    from sqlalchemy.dialects import postgresql, sqlite

_AT_ONCE = 12  # rows of one statement; a kernel has some five files


def insert_row(session: Session | Batch, model: type[Base], values: Mapping[str, object]) -> None:
    """Insert `values` as a row of `model`."""
    session.execute(_insert(model), dict(values))


def insert_missing(session: Session, model: type[Base], values: Mapping[str, object]) -> Any | None:
    """Insert `values` as a row of `model`; return its primary key, or None when a unique constraint reports a row.

    The transaction is not aborted.
    """
    return session.scalar(_insert_missing(model, dialect_of(session)), dict(values))


def insert_one_missing(batch: Batch, model: type[Base], values: Mapping[str, object]) -> Answer:
    """Insert the same in a batch; its answer is the primary key, if the row was missing."""
    return batch.execute(_insert_missing(model, dialect_of(batch)), values)


def insert_all_missing(session: Session | Batch, model: type[Base], rows: Sequence[Mapping[str, object]]) -> None:
    """Insert those rows that no unique constraint reports as existing; all have the same columns."""
    for first in range(0, len(rows), _AT_ONCE):
        some = rows[first : first + _AT_ONCE]
        statement = _insert_rows(model, dialect_of(session), tuple(some[0]), len(some))
        session.execute(statement, {f"{name}_{i}": value for i, row in enumerate(some) for name, value in row.items()})


def dialect_of(session: Session | Batch) -> str:
    """Return the name of the dialect."""
    return (session.connection if isinstance(session, Batch) else session.get_bind()).dialect.name


@cache
def _insert(model: type[Base]) -> Insert:
    return insert(table_of(model)).inline()  # nobody asks for its key


@cache
def _insert_missing(model: type[Base], dialect: str) -> Insert:
    return insert_of(dialect)(table_of(model)).on_conflict_do_nothing().returning(inspect(model).primary_key[0])


@cache
def _insert_rows(model: type[Base], dialect: str, names: tuple[str, ...], count: int) -> Insert:
    """Return one statement for several rows, with one SELECT each: VALUES of several rows are compiled each time."""
    table = table_of(model)
    rows = [select(*(bindparam(f"{n}_{i}", type_=table.c[n].type) for n in names)).where(true()) for i in range(count)]
    return insert_of(dialect)(table).from_select(names, union_all(*rows)).on_conflict_do_nothing()


def insert_of(dialect: str) -> "Callable[[Table], sqlite.Insert | postgresql.Insert]":
    """Return the INSERT of a dialect, which knows what to do on a conflict."""
    # Imported here: only the dialect in use.
    if dialect == "postgresql":
        from sqlalchemy.dialects.postgresql import insert
    else:
        from sqlalchemy.dialects.sqlite import insert
    return insert


_IMPORT_LOCK = 0x7865_7476  # any number that only imports use


def one_import_at_a_time(session: Session) -> None:
    """Wait until no other transaction imports rows: two with the same jobs would both add them.

    SQLite's write lock does the same.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _IMPORT_LOCK})
