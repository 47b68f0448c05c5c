"""Recordings as tables."""

from typing import TYPE_CHECKING
from uuid import UUID

from service.api.recordings.schemas import RecordedOut, RecordingLine, RecordingOut, RecordingPage
from service.cli.access.opening import Access
from service.cli.access.resource import Resource, checked, stored
from service.configurations import ConfigBody
from service.gemm_json import config_line
from service.schemas import to_problem

if TYPE_CHECKING:
    from service.cli.access.resource import Asked
    from service.http.context import Context

_PAGE, _RECORDINGS_A_PAGE = 1000, 200


def _page(context: "Context", asked: "Asked") -> RecordingPage:
    from service.api.recordings.service import list_recordings
    from service.http.list_query import PageQuery

    query = checked(PageQuery, asked)
    with context.database.read() as session:
        return list_recordings(session, query.limit, query.before)


RECORDINGS = Resource("/v1/recordings", RecordingPage, _page)


def every_recording(access: Access) -> list[RecordingLine]:
    """Return all recordings."""
    found: list[RecordingLine] = []
    before: UUID | None = None
    while True:
        page = access.read(RECORDINGS, {"before": before, "limit": _RECORDINGS_A_PAGE})
        found, before = found + page.recordings, page.next_before
        if before is None:
            return found


def one(access: Access, recording: UUID, limit: int) -> RecordingOut:
    """Return a recording with up to `limit` configurations."""
    found = _part(access, recording, 0, min(limit, _PAGE))
    while found.next_after is not None and len(found.configurations) < limit:
        page = _part(access, recording, found.next_after, min(limit - len(found.configurations), _PAGE))
        found.configurations += page.configurations
        found.next_after = page.next_after
    return found


def _part(access: Access, recording: UUID, after: int, most: int) -> RecordingOut:
    path, function = f"/v1/recordings/{recording}", "service.api.recordings.service:read_recording"
    return access.read(stored(path, RecordingOut, function, recording, after, most), {"after": after, "limit": most})


def line(recording: RecordingLine) -> dict[str, object]:
    """Return a recording as values of a row."""
    return {
        "id": str(recording.id),
        "problem": str(to_problem(recording.problem)),
        "device": recording.device,
        "origin": recording.origin,
        "format": recording.format,
        "tried": recording.tried,
        "timed": recording.timed,
        "best_us": recording.best_us,
    }


def evidence(recording: RecordingOut) -> str:
    """Return where the times of a recording come from."""
    return (
        f"measured elsewhere ({recording.origin}, {recording.label}, on {recording.named}); numbers not verified here"
    )


def tried(row: RecordedOut) -> dict[str, object]:
    """Return a configuration as values of a row."""
    config = row.config.model_dump(mode="json") if isinstance(row.config, ConfigBody) else row.config
    return {
        "number": row.number,
        "time_us": row.time_us,
        "result": row.status if row.reason is None else f"{row.status}: {row.reason}",
        "configuration": config_line(config),
    }
