"""The addresses of the pages and of the files they use."""

from collections.abc import Callable
from functools import partial
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from codegen import DType
from db.errors import DatabaseError
from service.artifacts import ArtifactDamaged, ArtifactStore
from service.dashboard.assets import STATIC_FILES, STATIC_URL, asset_answer
from service.dashboard.history import job_page
from service.dashboard.kernel import kernel_page
from service.dashboard.overview import overview
from service.dashboard.problem_pages import PAGE
from service.dashboard.rendering import message_page, page
from service.dashboard.style.routes import router as style
from service.dashboard.views import DeviceRow
from service.deps import Context, ContextDep
from service.errors import NotFound
from service.keys.guard import PUBLIC, READ

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
router.include_router(style)

_INPUT_DTYPES = (DType.F16, DType.BF16, DType.TF32, DType.F32, DType.S8, DType.U8)
_SCHEDULE_EXAMPLE = """\
curl -X POST {base}v1/schedules -H 'Content-Type: application/json' -d '{{
  "name": "nightly", "cron": "0 2 * * *", "timezone": "Europe/Warsaw",
  "job": {{"problem": {{"m": 512, "n": 384, "k": 1024}}, "device": "auto", "budget": {{"trials": 50}}}}}}'"""


@router.get("/", dependencies=[PAGE, READ])
def read_overview(request: Request, context: ContextDep) -> HTMLResponse:
    """Jobs, devices, schedules, and the form that starts a job."""
    devices = _devices(context)

    def answer(session: Session) -> HTMLResponse:
        values = {
            "view": overview(session, devices),
            "dtypes": [d.value for d in _INPUT_DTYPES],
            "schedule_example": _SCHEDULE_EXAMPLE.format(base=request.base_url),
        }
        return page(request, "overview.html", values, "overview")

    return _read(request, context, answer)


@router.get("/jobs/{job_id}", dependencies=[PAGE, READ])
def read_job(request: Request, context: ContextDep, job_id: str, sort: str = "time", page: str = "1") -> HTMLResponse:
    """A job: its history and one page of its trials."""
    return _job(request, context, "job.html", job_id, sort, page)


@router.get("/jobs/{job_id}/live", dependencies=[PAGE, READ])
def read_job_parts(
    request: Request, context: ContextDep, job_id: str, sort: str = "time", page: str = "1"
) -> HTMLResponse:
    """The parts of a job's page that change while it runs."""
    return _job(request, context, "_job_live.html", job_id, sort, page)


@router.get("/kernels/{kernel_id}", dependencies=[PAGE, READ])
def read_kernel(request: Request, context: ContextDep, kernel_id: str) -> HTMLResponse:
    """A kernel: launch, evidence, and its stages side by side."""

    def answer(session: Session) -> HTMLResponse:
        identity = _uuid(kernel_id)
        view = None if identity is None else kernel_page(session, identity, partial(_bytes, context.artifacts))
        if view is None:
            return message_page(request, "No such kernel", f"No kernel has the id {kernel_id}.", 404)
        return page(request, "kernel.html", {"view": view}, "kernels")

    return _read(request, context, answer)


@router.get(STATIC_URL + "/{name:path}", dependencies=[PUBLIC])
def read_static(request: Request, name: str) -> Response:
    """A style, script or image of the pages."""
    if name not in STATIC_FILES:
        raise NotFound(f"no file {name!r} belongs to the pages")
    return asset_answer(request, name)


def _job(request: Request, context: Context, template: str, job_id: str, sort: str, number: str) -> HTMLResponse:
    def answer(session: Session) -> HTMLResponse:
        identity = _uuid(job_id)
        view = None if identity is None else job_page(session, identity, sort, _page_number(number))
        if view is None:
            return message_page(request, "No such job", f"No job has the id {job_id}.", 404)
        return page(request, template, {"view": view}, "jobs")

    return _read(request, context, answer)


def _read(request: Request, context: Context, answer: Callable[[Session], HTMLResponse]) -> HTMLResponse:
    try:
        with context.database.read() as session:
            return answer(session)
    except DatabaseError as error:
        return message_page(request, "The database cannot answer now", str(error), 503)


def _devices(context: Context) -> list[DeviceRow]:
    return [
        DeviceRow(d.spec.id, d.spec.name, d.spec.kind.value, d.spec.emulates, d.runnable, d.targetable, d.note)
        for d in context.devices.all()
    ]


def _bytes(artifacts: ArtifactStore, sha256: str) -> bytes | None:
    try:
        return artifacts.read(sha256)
    except ArtifactDamaged:
        return None


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _page_number(text: str) -> int:
    # At most as many digits as any real page has: Python refuses to read enormous numbers.
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 1
