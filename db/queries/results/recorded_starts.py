"""Initial configurations of searches from recordings."""

from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from db.queries.results.warm_starts import warm_start
from db.schema.recording import RecordedTrial, Recording
from db.values import JsonObject


def of_recorded(session: Session, chosen: Iterable[tuple[int, float]]) -> list[JsonObject]:
    """Return warm starts from recorded trials, each with the distance of its problem."""
    recording = joinedload(RecordedTrial.recording)
    options = recording.joinedload(Recording.problem), recording.joinedload(Recording.device)
    distances = dict(chosen)
    rows = {
        row.id: (row, row.recording)
        for row in session.scalars(select(RecordedTrial).where(RecordedTrial.id.in_(distances)).options(*options))
    }
    return [
        warm_start(row, of.problem, of.device, far, recording=of.digest)
        for (row, of), far in ((rows[id], far) for id, far in distances.items())
    ]
