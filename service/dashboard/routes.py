"""The addresses of the pages and of the files they use."""

from collections.abc import Callable
from functools import partial
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from db.errors import DatabaseError
from service.artifacts import ArtifactDamaged, ArtifactStore
from service.dashboard.assets import STATIC_FILES, STATIC_URL, STYLES, asset_answer
from service.dashboard.devices.routes import router as devices
from service.dashboard.jobs.routes import router as jobs
from service.dashboard.kernel import kernel_page
from service.dashboard.overview.routes import router as overview
from service.dashboard.problem_pages import PAGE
from service.dashboard.problems.routes import router as problems
from service.dashboard.rendering import message_page, page
from service.dashboard.style.routes import router as style
from service.deps import Context, ContextDep
from service.errors import NotFound
from service.keys.guard import PUBLIC, READ

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
for pages in (overview, jobs, problems, devices, style):
    router.include_router(pages)


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
    if name not in STATIC_FILES and name != STYLES:
        raise NotFound(f"no file {name!r} belongs to the pages")
    return asset_answer(request, name)


def _read(request: Request, context: Context, answer: Callable[[Session], HTMLResponse]) -> HTMLResponse:
    try:
        with context.database.read() as session:
            return answer(session)
    except DatabaseError as error:
        return message_page(request, "The database cannot answer now", str(error), 503)


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
