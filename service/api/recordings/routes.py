"""/v1/recordings."""

from typing import Annotated
from uuid import UUID

from fastapi import Path, Query

from service.api.keys.guard import (
    READ,
    guarded_router,
)
from service.api.recordings import service
from service.api.recordings.schemas import (
    RecordingOut,
    RecordingPage,
)
from service.http.deps import ReadSessionDep
from service.http.list_query import PageQuery
from service.http.responses import NOT_FOUND

router = guarded_router("/v1/recordings", "exchange")

_ID = "01970a3c-0000-7000-8000-000000000000"


@router.get("", dependencies=[READ])
def list_recordings(session: ReadSessionDep, query: Annotated[PageQuery, Query()]) -> RecordingPage:
    """List imported Kernel Tuner and T4 files, newest first. POST /v1/imports adds one."""
    return service.list_recordings(session, query.limit, query.before)


@router.get("/{recording_id}", responses=NOT_FOUND, dependencies=[READ])
def read_recording(
    recording_id: Annotated[UUID, Path(description="Id of the recording", examples=[_ID])],
    session: ReadSessionDep,
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="`next_after` of the page before", examples=[100])] = 0,
    limit: Annotated[int, Query(ge=1, le=1000, description="Most configurations in the answer", examples=[100])] = 100,
) -> RecordingOut:
    """Return a recording: its origin, and its configurations, fastest first."""
    return service.read_recording(session, recording_id, after, limit)
