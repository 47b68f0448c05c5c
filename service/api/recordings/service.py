"""Recordings as response models."""

from uuid import UUID

from sqlalchemy.orm import Session

from db.queries import recordings
from db.queries.recordings import Counts
from db.schema.recording import RecordedTrial, Recording
from service.api.recordings.schemas import (
    RecordedOut,
    RecordingLine,
    RecordingOut,
    RecordingPage,
)
from service.configurations import to_config_body
from service.errors import NotFound
from service.gemm_json import problem_from_json
from service.schemas import to_body

_COPIED = ("number", "status", "reason", "time_us", "min_us", "p10_us", "p90_us", "samples", "tried_at")


def list_recordings(session: Session, limit: int, before: UUID | None) -> RecordingPage:
    """Return the newest recordings older than `before`."""
    rows = recordings.list_page(session, limit=limit + 1, before=before)
    page = [_line(*row) for row in rows[:limit]]
    return RecordingPage(recordings=page, next_before=page[-1].id if len(rows) > limit else None)


def read_recording(session: Session, recording_id: UUID, after: int, limit: int) -> RecordingOut:
    """Return a recording with `limit` of its configurations from index `after` on, fastest first.

    Raises:
        NotFound: there is none.
    """
    found = recordings.find(session, recording_id)
    if found is None:
        raise NotFound(f"recording {recording_id} does not exist; `xetune recordings` lists those that do")
    rows = recordings.tried(session, recording_id, offset=after, limit=limit + 1)
    configurations = [_tried(row) for row in rows[:limit]]
    following = after + limit if len(rows) > limit else None
    return RecordingOut(**dict(_line(*found)), configurations=configurations, next_after=following)


def _line(row: Recording, counts: Counts) -> RecordingLine:
    return RecordingLine(
        id=row.id,
        problem=to_body(problem_from_json(row.problem.definition)),
        device=row.device.slug,
        named=row.named,
        label=row.label,
        origin=row.origin,
        format=row.format,
        tried=counts.tried,
        timed=counts.timed,
        best_us=counts.best_us,
        imported_at=row.imported_at,
    )


def _tried(row: RecordedTrial) -> RecordedOut:
    values = {name: getattr(row, name) for name in _COPIED}
    return RecordedOut.model_validate({"config": to_config_body(row.config), **values})
