"""Queries on recordings: results imported from files of other formats."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, contains_eager, joinedload, selectinload

from db.queries.insert import insert_missing
from db.schema import (
    Problem,
    RecordedTrial,
    Recording,
)
from db.schema.base import new_id


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of a recording: configurations, those with a time, and the least time in microseconds."""

    tried: int
    timed: int
    best_us: float | None


def add(session: Session, values: Mapping[str, object], tried: Iterable[Mapping[str, object]]) -> Recording | None:
    """Add a recording with its trials, in their order; return None if an equal one is stored."""
    recording_id = new_id()
    if not insert_missing(session, Recording, {"id": recording_id, **values}):
        return None
    for number, columns in enumerate(tried):
        session.add(RecordedTrial(recording_id=recording_id, number=number, **columns))
    session.flush()
    return get(session, recording_id)


def get(session: Session, recording_id: UUID) -> Recording | None:
    """Return a recording with problem, device and trials."""
    return session.scalars(_whole().where(Recording.id == recording_id)).first()


def by_digest(session: Session, digest: str) -> Recording | None:
    """Return the recording with that digest."""
    return session.scalars(_whole().where(Recording.digest == digest)).first()


def ids_of(session: Session, digests: Collection[str]) -> dict[str, UUID]:
    """Return the ids of the recordings with these digests."""
    return dict(session.execute(select(Recording.digest, Recording.id).where(Recording.digest.in_(digests))).all())


def list_page(session: Session, *, limit: int, before: UUID | None = None) -> list[tuple[Recording, Counts]]:
    """Return the newest recordings with their counts, at most `limit`, older than `before`."""
    query = select(Recording) if before is None else select(Recording).where(Recording.id < before)
    return _counted(session, query.order_by(Recording.id.desc()).limit(limit))


def find(session: Session, recording_id: UUID) -> tuple[Recording, Counts] | None:
    """Return a recording with its counts."""
    return next(iter(_counted(session, select(Recording).where(Recording.id == recording_id))), None)


def tried(session: Session, recording_id: UUID, *, offset: int, limit: int) -> list[RecordedTrial]:
    """Return trials of a recording from `offset` on, fastest first, those without a time last."""
    query = select(RecordedTrial).where(RecordedTrial.recording_id == recording_id)
    order = RecordedTrial.time_us.is_(None), RecordedTrial.time_us, RecordedTrial.number
    return list(session.scalars(query.order_by(*order).offset(offset).limit(limit)))


def alike(session: Session, problem: Problem) -> list[Recording]:
    """Return recordings of problems with the types and layout of `problem`, newest first, without their trials."""
    query = select(Recording).join(Recording.problem)
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
    return select(Recording).options(*loads)
