"""/devices: the list, and a device with its clocks."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from service.api.keys.guard import READ
from service.dashboard.charts.answers import chart_answer
from service.dashboard.devices.reading import clocks_chart, device_list, device_page
from service.dashboard.devices.rows import device_rows
from service.dashboard.error_pages import PAGE
from service.dashboard.rendering import page
from service.http.deps import (
    ContextDep,
    ReadSessionDep,
)

router = APIRouter(prefix="/devices", default_response_class=HTMLResponse)


@router.get("", dependencies=[PAGE, READ])
def read_devices(request: Request, context: ContextDep, session: ReadSessionDep) -> HTMLResponse:
    """Every device that is here, in the table or in the database."""
    rows = device_list(session, device_rows(session, context.devices.all()), context.now())
    return page(request, "devices/list.html", {"rows": rows}, "devices")


@router.get("/{device}", dependencies=[PAGE, READ])
def read_device(request: Request, context: ContextDep, session: ReadSessionDep, device: str) -> HTMLResponse:
    """A device: facts with where they come from, health, clocks, queue."""
    listed = context.devices.all()
    view = device_page(session, device, device_rows(session, listed), listed, context.now())
    return page(request, "devices/device.html", {"view": view}, "devices")


@router.get("/{device}/charts/clocks", dependencies=[PAGE, READ])
def read_clocks(request: Request, session: ReadSessionDep, device: str) -> Response:
    """Clocks during measurements."""
    return chart_answer(request, clocks_chart(session, device), device)
