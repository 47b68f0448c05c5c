"""The addresses of the pages and of the files they use."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from service.api.keys.guard import PUBLIC
from service.dashboard.assets import STATIC_FILES, STATIC_URL, STYLES, asset_answer
from service.dashboard.compare.routes import router as compare
from service.dashboard.devices.routes import router as devices
from service.dashboard.explore.routes import router as explore
from service.dashboard.fleet.routes import router as fleet
from service.dashboard.jobs.routes import router as jobs
from service.dashboard.kernels.routes import router as kernels
from service.dashboard.overview.routes import router as overview
from service.dashboard.problems.routes import router as problems
from service.dashboard.records.routes import router as records
from service.dashboard.reference.routes import router as reference
from service.dashboard.schedules.routes import router as schedules
from service.dashboard.shapes.routes import router as shapes
from service.dashboard.xray.routes import router as xray
from service.errors import NotFound

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
for pages in (
    overview,
    jobs,
    problems,
    kernels,
    compare,
    xray,
    shapes,
    devices,
    fleet,
    schedules,
    records,
    explore,
    reference,
):
    router.include_router(pages)


@router.get(STATIC_URL + "/{name:path}", dependencies=[PUBLIC])
def read_static(request: Request, name: str) -> Response:
    """A style, script or image of the pages."""
    if name not in STATIC_FILES and name != STYLES:
        raise NotFound(f"no file {name!r} belongs to the pages")
    return asset_answer(request, name)
