"""Queries on records: results of other tuners."""

from collections.abc import Collection, Iterator, Mapping
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session, defer

from db.schema.record import Record

CONSIDERED = 1_000
"""Number of records of a problem on a device, the newest, from which a lookup chooses."""


def find(session: Session, record_id: UUID) -> Record | None:
    """Return a record."""
    return session.get(Record, record_id)


def count(session: Session) -> int:
    """Return the number of records."""
    return session.scalar(select(func.count()).select_from(Record)) or 0


def count_of(session: Session, problem_hash: str, device: str) -> int:
    """Return the number of records of a problem on a device."""
    query = select(func.count()).where(Record.problem_hash == problem_hash, Record.device == device)
    return session.scalar(query) or 0


def stored(session: Session, ids: Collection[UUID]) -> dict[UUID, Record]:
    """Return those records that exist, by id."""
    return {row.id: row for row in session.scalars(select(Record).where(Record.id.in_(ids)))}


def each(session: Session, device: str | None, portion: int = 200) -> Iterator[Record]:
    """Yield all records, or those of a device, oldest first; reads a portion at a time."""
    after: UUID | None = None
    while True:
        query = select(Record).order_by(Record.id).limit(portion)
        if device is not None:
            query = query.where(Record.device == device)
        rows = list(session.scalars(query if after is None else query.where(Record.id > after)))
        yield from rows
        if len(rows) < portion:
            return
        after = rows[-1].id


def newest(session: Session, problem_hash: str, device: str, limit: int = CONSIDERED) -> list[Record]:
    """Return the newest records of a problem on a device, newest first; their JSON is loaded when it is read."""
    query = select(Record).where(Record.problem_hash == problem_hash, Record.device == device)
    query = query.options(defer(Record.config), defer(Record.document))
    return list(session.scalars(query.order_by(Record.id.desc()).limit(limit)))


def latest_like(session: Session, row: Record) -> Record | None:
    """Return the newest record that `row` would replace: of its problem, device, driver and versions; of those with a
    time only one of the same configuration.
    """
    query = select(Record).where(
        Record.problem_hash == row.problem_hash, Record.device == row.device, Record.driver == row.driver
    )
    if row.time_us is None:
        query = query.where(Record.time_us.is_(None))
    else:
        query = query.where(Record.time_us.is_not(None), Record.config_hash == row.config_hash)
    newest_first = session.scalars(query.order_by(Record.id.desc()).limit(CONSIDERED))
    return next((each for each in newest_first if each.versions == row.versions), None)


def list_page(
    session: Session, filters: Mapping[str, str | None], *, limit: int, before: UUID | None = None
) -> list[Record]:
    """Return the newest records whose columns have the values of `filters`, at most `limit`, older than `before`."""
    query = select(Record)
    for column, value in filters.items():
        if value is not None:
            query = query.where(getattr(Record, column) == value)
    if before is not None:
        query = query.where(Record.id < before)
    return list(session.scalars(query.order_by(Record.id.desc()).limit(limit)))
