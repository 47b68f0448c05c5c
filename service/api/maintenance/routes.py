"""/v1/maintenance."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Response

from service.api.audit.log import record
from service.api.keys.guard import (
    READ,
    TUNE,
    CallerDep,
    GuardedRoute,
)
from service.api.maintenance import service
from service.api.maintenance.schemas import (
    WindowBody,
    WindowList,
    WindowOut,
)
from service.http.deps import (
    ContextDep,
    DatabaseDep,
    ReadSessionDep,
)
from service.http.idempotency.once import OnceDep
from service.http.responses import (
    BAD_REQUEST,
    CONFLICT,
    NOT_FOUND,
    TOO_LARGE,
)

router = APIRouter(prefix="/v1/maintenance", tags=["maintenance"], route_class=GuardedRoute)

WindowId = Annotated[UUID, Path(description="Id of the window", examples=["01970a3c-0000-7000-8000-000000000000"])]


@router.post("", status_code=201, responses=BAD_REQUEST | CONFLICT | TOO_LARGE, dependencies=[TUNE])
def create_window(body: WindowBody, context: ContextDep, response: Response, by: CallerDep, once: OnceDep) -> WindowOut:
    """Keep jobs from a device, or from all, for a time. A job that runs at its begin is put back and goes on after."""
    now = context.now()
    service.check(body, now)
    device = None if body.device is None else service.known_device(body.device, context.devices, context.database)
    with once.write() as session:
        window = service.create(session, body, now, device)
        record(session, by, "maintenance.create", window.id)
        return once.answer(session, response, window, HTTPStatus.CREATED, f"/v1/maintenance/{window.id}")


@router.get("", dependencies=[READ])
def list_windows(context: ContextDep, session: ReadSessionDep) -> WindowList:
    """Every window of maintenance, and which are open."""
    return service.list_windows(session, context.now())


@router.get("/{window_id}", responses=NOT_FOUND, dependencies=[READ])
def read_window(window_id: WindowId, context: ContextDep, session: ReadSessionDep) -> WindowOut:
    """One window of maintenance."""
    return service.read_window(session, window_id, context.now())


@router.put("/{window_id}", responses=BAD_REQUEST | NOT_FOUND | CONFLICT | TOO_LARGE, dependencies=[TUNE])
def replace_window(window_id: WindowId, body: WindowBody, context: ContextDep, by: CallerDep) -> WindowOut:
    """Change a window of maintenance wholly, checked as a new one."""
    now = context.now()
    service.check(body, now)
    device = None if body.device is None else service.known_device(body.device, context.devices, context.database)
    with context.database.write() as session:
        window = service.replace(session, window_id, body, now, device)
        record(session, by, "maintenance.replace", window_id)
    return window


@router.delete("/{window_id}", status_code=204, responses=NOT_FOUND, dependencies=[TUNE])
def delete_window(window_id: WindowId, database: DatabaseDep, by: CallerDep) -> None:
    """Remove a window; one that is open ends at once."""
    with database.write() as session:
        service.delete(session, window_id)
        record(session, by, "maintenance.delete", window_id)
