"""Queries on recordings: results imported from files of other formats."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from sqlalchemy import CursorResult, Select, func, select, update
from sqlalchemy.orm import Session, contains_eager, joinedload, selectinload

from db.queries.insert import insert_all_missing, insert_missing
from db.schema.recording import RecordedTrial, Recording
from db.schema.target import Problem
from db.values import new_id


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of a recording: configurations, those with a time, and the least time in microseconds."""

    tried: int
    timed: int
    best_us: float | None


def begin(session: Session, values: Mapping[str, object]) -> tuple[UUID, bool]:
    """Add a recording without trials; return its id, or that of an equal one and whether that is complete."""
    made = insert_missing(session, Recording, {"id": new_id(), "complete": False, **values})
    if made is not None:
        return made, False
    query = select(Recording.id, Recording.complete).where(Recording.digest == values["digest"])
    return session.execute(query).one()


def add_tried(session: Session, recording_id: UUID, first: int, tried: Sequence[Mapping[str, object]]) -> None:
    """Add trials of a recording, numbered from `first`, except those that it has."""
    rows = [{"recording_id": recording_id, "number": first + index, **row} for index, row in enumerate(tried)]
    insert_all_missing(session, RecordedTrial, rows)


def complete(session: Session, digest: str) -> bool:
    """Show the recording with that digest, which has all its trials; return False if it was shown before."""
    query = update(Recording).where(Recording.digest == digest, Recording.complete.is_(False)).values(complete=True)
    return cast(CursorResult[Any], session.execute(query)).rowcount == 1


def get(session: Session, recording_id: UUID) -> Recording | None:
    """Return a recording with problem, device and trials."""
    return session.scalars(_whole().where(Recording.id == recording_id)).first()


def by_digest(session: Session, digest: str) -> Recording | None:
    """Return the recording with that digest, without its trials."""
    return session.scalars(_shown().where(Recording.digest == digest)).first()


def ids_of(session: Session, digests: Collection[str]) -> dict[str, UUID]:
    """Return the ids of the recordings with these digests."""
    query = select(Recording.digest, Recording.id).where(Recording.digest.in_(digests), Recording.complete)
    return dict(session.execute(query).all())


def list_page(session: Session, *, limit: int, before: UUID | None = None) -> list[tuple[Recording, Counts]]:
    """Return the newest recordings with their counts, at most `limit`, older than `before`."""
    query = _shown() if before is None else _shown().where(Recording.id < before)
    return _counted(session, query.order_by(Recording.id.desc()).limit(limit))


def find(session: Session, recording_id: UUID) -> tuple[Recording, Counts] | None:
    """Return a recording with its counts."""
    return next(iter(_counted(session, _shown().where(Recording.id == recording_id))), None)


def tried(session: Session, recording_id: UUID, *, offset: int, limit: int) -> list[RecordedTrial]:
    """Return trials of a recording from `offset` on, fastest first, those without a time last."""
    query = select(RecordedTrial).where(RecordedTrial.recording_id == recording_id)
    order = RecordedTrial.time_us.is_(None), RecordedTrial.time_us, RecordedTrial.number
    return list(session.scalars(query.order_by(*order).offset(offset).limit(limit)))


def alike(session: Session, problem: Problem) -> list[Recording]:
    """Return recordings of problems with the types and layout of `problem`, newest first, without their trials."""
    query = _shown().join(Recording.problem)
    for name in ("dtype_a", "dtype_b", "dtype_c", "dtype_acc", "transpose_a", "transpose_b"):
        query = query.where(getattr(Problem, name) == getattr(problem, name))
    loads = contains_eager(Recording.problem), joinedload(Recording.device)
    return list(session.scalars(query.options(*loads).order_by(Recording.id.desc())))


def fastest(session: Session, recording_id: UUID, limit: int) -> list[RecordedTrial]:
    """Return the trials of a recording with the least times."""
    query = select(RecordedTrial).where(RecordedTrial.recording_id == recording_id, RecordedTrial.time_us.is_not(None))
    return list(session.scalars(query.order_by(RecordedTrial.time_us, RecordedTrial.number).limit(limit)))


def _counted(session: Session, wanted: Select[Recording]) -> list[tuple[Recording, Counts]]:
    rows = list(session.scalars(wanted.options(joinedload(Recording.problem), joinedload(Recording.device))))
    counts = select(
        RecordedTrial.recording_id, func.count(), func.count(RecordedTrial.time_us), func.min(RecordedTrial.time_us)
    ).where(RecordedTrial.recording_id.in_([row.id for row in rows]))
    of = {
        row[0]: Counts(row[1], row[2], row[3]) for row in session.execute(counts.group_by(RecordedTrial.recording_id))
    }
    return [(row, of.get(row.id, Counts(0, 0, None))) for row in rows]


def _whole() -> Select[Recording]:
    loads = joinedload(Recording.problem), joinedload(Recording.device), selectinload(Recording.tried)
    return _shown().options(*loads)


def _shown() -> Select[Recording]:
    return select(Recording).where(Recording.complete)
