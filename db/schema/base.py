"""Base of all tables: naming of constraints, column types, identifiers."""

import secrets
import threading
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import JSON, DateTime, Dialect, MetaData, Table, TypeDecorator
from sqlalchemy.orm import DeclarativeBase

JsonObject = dict[str, object]

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC. SQLite stores no zone, so it is added on reading; a naive value is refused."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"expected a datetime with a time zone, got {value!r}; use datetime.now(UTC)")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """Base of all tables."""

    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map = {  # noqa: RUF012 (the name and form are SQLAlchemy's)
        datetime: UtcDateTime,
        JsonObject: JSON(none_as_null=True),
        list[JsonObject]: JSON(none_as_null=True),
    }


def table_of(model: type[Base]) -> Table:
    """Return the table of a class, for statements without the ORM."""
    table = model.__table__
    assert isinstance(table, Table)  # declarative classes here have tables, not other selectables
    return table


def utc_now() -> datetime:
    """Return the current time, in UTC."""
    return datetime.now(UTC)


_RANDOM_BITS = 74
_drawing, _last = threading.Lock(), 0


def new_id() -> UUID:
    """Return a UUID that sorts by creation time: to the millisecond, within a process exactly.

    Source: RFC 9562, section 5.7 (version 7), and section 6.2, method 2 (monotonic random).
    """
    global _last
    milliseconds = time.time_ns() // 1_000_000
    with _drawing:
        _last = max((milliseconds << _RANDOM_BITS) | secrets.randbits(_RANDOM_BITS), _last + 1 + secrets.randbits(32))
        drawn = _last
    high, low = drawn >> 62, drawn & ((1 << 62) - 1)
    return UUID(int=(high >> 12 << 80) | (7 << 76) | ((high & 0xFFF) << 64) | (2 << 62) | low)


def one_of(column: str, values: Iterable[str]) -> str:
    """Return an SQL condition: `column` is one of `values`."""
    return f"{column} IN ({', '.join(repr(value) for value in values)})"
