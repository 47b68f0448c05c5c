"""Queries on recordings: results of other formats' files."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from sqlalchemy import Row, Select, func, select
from sqlalchemy.orm import Session, joinedload, selectinload

from db.base import new_id
from db.insert import insert_missing
from db.models import Device, Problem, RecordedTrial, Recording


def add(session: Session, values: Mapping[str, object], tried: Iterable[Mapping[str, object]]) -> Recording | None:
    """Add a recording with its trials, in their order; None if one that says the same is there."""
    recording_id = new_id()
    if not insert_missing(session, Recording, {"id": recording_id, **values}):
        return None
    for number, columns in enumerate(tried):
        session.add(RecordedTrial(recording_id=recording_id, number=number, **columns))
    session.flush()
    return get(session, recording_id)


def get(session: Session, recording_id: UUID) -> Recording | None:
    """A recording with problem, device and trials."""
    return session.scalars(_whole().where(Recording.id == recording_id)).first()


def by_digest(session: Session, digest: str) -> Recording | None:
    """The recording that says just that."""
    return session.scalars(_whole().where(Recording.digest == digest)).first()


def list_all(session: Session) -> list[tuple[Recording, int, int, float | None]]:
    """Each recording, the newest first, with its trials, those with a time, and the least time in microseconds."""
    counts = select(
        RecordedTrial.recording_id, func.count(), func.count(RecordedTrial.time_us), func.min(RecordedTrial.time_us)
    ).group_by(RecordedTrial.recording_id)
    of = {row[0]: (row[1], row[2], row[3]) for row in session.execute(counts)}
    loads = joinedload(Recording.problem), joinedload(Recording.device)
    found = session.scalars(select(Recording).options(*loads).order_by(Recording.id.desc()))
    return [(recording, *of.get(recording.id, (0, 0, None))) for recording in found]


def fastest(session: Session, device: str, dtypes: Mapping[str, str], limit: int) -> list[Row[Problem, RecordedTrial]]:
    """Problems and recorded trials for a device (a slug) with those types ("dtype_a" and so on), least time first."""
    query = select(Problem, RecordedTrial).join(Recording, Recording.problem_id == Problem.id)
    query = query.join(RecordedTrial, RecordedTrial.recording_id == Recording.id)
    query = query.join(Device, Device.id == Recording.device_id)
    query = query.where(Device.slug == device, RecordedTrial.time_us.is_not(None))
    query = query.where(*(getattr(Problem, name) == dtype for name, dtype in dtypes.items()))
    return list(session.execute(query.order_by(RecordedTrial.time_us, RecordedTrial.id).limit(limit)))


def _whole() -> Select[Recording]:
    loads = joinedload(Recording.problem), joinedload(Recording.device), selectinload(Recording.tried)
    return select(Recording).options(*loads)
