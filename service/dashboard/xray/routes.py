"""/xray: a file is sent and its kernels are shown; /kernels/{id}/xray: the same of a stored kernel."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from db.queries.results import kernels
from hal import DeviceKind
from service.api.keys.guard import READ, TUNE
from service.api.xray.routes import ReceivedFile
from service.api.xray.schemas import XrayQuery
from service.api.xray.service import xray_file, xray_kernel
from service.api.xray.work import SIZE
from service.dashboard.error_pages import PAGE
from service.dashboard.naming import problem_label
from service.dashboard.problem_filter import identity
from service.dashboard.rendering import page
from service.dashboard.xray.reading import xray_view
from service.errors import NotFound
from service.http.deps import ContextDep

router = APIRouter(default_response_class=HTMLResponse)


@router.get("/xray", dependencies=[PAGE, READ])
def read_form(request: Request, context: ContextDep, kernel: Annotated[str, Query(max_length=200)] = "") -> Response:
    """Show the form that sends a file; with a kernel's id, its x-ray."""
    if kernel.strip():
        return RedirectResponse(f"/kernels/{_known(kernel.strip())}/xray", status_code=303)
    gpus = [d.spec.id for d in context.devices.all() if d.spec.kind is DeviceKind.GPU]
    values = {"devices": sorted(set(gpus)), "size": SIZE, "most_bytes": context.settings.max_xray_bytes}
    return page(request, "xray/form.html", values, "xray")


@router.post("/xray", dependencies=[TUNE])
def read_file(
    request: Request, received: ReceivedFile, query: Annotated[XrayQuery, Query()], context: ContextDep
) -> HTMLResponse:
    """Show the kernels of a file as a part of the page; errors are JSON for those who accept it first."""
    with received.open("rb") as file:
        view = xray_view(xray_file(context, file, query))
    return page(request, "xray/_result.html", {"view": view})


@router.get("/kernels/{kernel_id}/xray", dependencies=[PAGE, READ])
def read_stored(request: Request, context: ContextDep, kernel_id: str) -> HTMLResponse:
    """Show the code of a stored kernel, beside our best for its problem."""
    known = _known(kernel_id)
    view = xray_view(xray_kernel(context, known))
    with context.database.read() as session:
        kernel = kernels.get(session, known)
        problem = "" if kernel is None else problem_label(kernel.problem)
    return page(request, "xray/kernel.html", {"view": view, "id": known, "problem": problem}, "kernels")


def _known(text: str) -> UUID:
    found = identity(text)
    if found is None:
        raise NotFound(f"No kernel has the id {text}.")
    return found
