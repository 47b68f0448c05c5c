"""Base of all tables: naming of constraints, column types, bounds of times."""

from collections.abc import Iterable
from datetime import UTC, datetime

from sqlalchemy import JSON, DateTime, Dialect, MetaData, Table, TypeDecorator
from sqlalchemy.orm import DeclarativeBase

from db.values import JsonObject

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
LABELS = ("native", "DPAS emulated")  # of measured times
LONGEST_US = "1e12"  # eleven days; also refuses infinity, and NaN where it counts as large


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


def one_of(column: str, values: Iterable[str]) -> str:
    """Return an SQL condition: `column` is one of `values`."""
    return f"{column} IN ({', '.join(repr(value) for value in values)})"
