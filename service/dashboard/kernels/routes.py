"""/kernels: the list, a kernel, and a text of one."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from db.schema.kernel import Kernel
from service.api.keys.guard import READ
from service.dashboard.error_pages import PAGE
from service.dashboard.highlight import MAX_LINES
from service.dashboard.kernels.picture import draw
from service.dashboard.kernels.reading import find_kernel, kernel_page, read_tiling
from service.dashboard.kernels.rows import kernel_list, understand
from service.dashboard.kernels.saved import drawing, levels_csv
from service.dashboard.kernels.stages import reader, stage, texts
from service.dashboard.kernels.tiling import Tiling
from service.dashboard.naming import config_label, problem_label
from service.dashboard.rendering import page, rendered
from service.errors import NotFound
from service.http.deps import (
    ContextDep,
    ReadSessionDep,
)

router = APIRouter(prefix="/kernels", default_response_class=HTMLResponse)


@router.get("", dependencies=[PAGE, READ])
def read_kernels(request: Request, session: ReadSessionDep) -> HTMLResponse:
    """Kernels, newest first."""
    wanted = understand(request.query_params)
    return page(request, "kernels/list.html", {"view": kernel_list(session, wanted)}, "kernels")


@router.get("/{kernel_id}", dependencies=[PAGE, READ])
def read_kernel(
    request: Request,
    context: ContextDep,
    session: ReadSessionDep,
    kernel_id: str,
    stages: Annotated[str, Query(max_length=500)] = "",
) -> HTMLResponse:
    """A kernel: launch, evidence, and its stages side by side."""
    view = kernel_page(session, find_kernel(session, kernel_id), reader(context.artifacts), stages)
    return page(request, "kernels/kernel.html", {"view": view}, "kernels")


@router.get("/{kernel_id}/stages/{name}", dependencies=[PAGE, READ])
def read_stage(
    request: Request,
    context: ContextDep,
    session: ReadSessionDep,
    kernel_id: str,
    name: str,
    start: Annotated[str, Query(alias="from")] = "1",
) -> HTMLResponse:
    """A text of a kernel, so many lines at a time."""
    kernel = find_kernel(session, kernel_id)
    if name not in texts(kernel.artifacts):
        raise NotFound(f"The kernel has no text {name}; it has {', '.join(texts(kernel.artifacts)) or 'none'}.")
    first = int(start) if start.isascii() and start.isdecimal() and len(start) < 10 else 1
    artifact = next(a for a in kernel.artifacts if a.name == name)
    shown = stage(artifact, reader(context.artifacts), first, MAX_LINES)
    values = {"id": kernel_id, "problem": problem_label(kernel.problem), "stage": shown, "most": MAX_LINES}
    return page(request, "kernels/stage.html", values, "kernels")


@router.get("/{kernel_id}/tiling.svg", dependencies=[PAGE, READ])
def read_tiling_picture(request: Request, session: ReadSessionDep, kernel_id: str) -> Response:
    """Return the tiling of a kernel as a picture to download."""
    kernel, tiling = _tiled(session, kernel_id)
    values = {
        "title": f"{problem_label(kernel.problem)} for {kernel.target}",
        "config": config_label(kernel.config),
        "drawing": drawing([draw(zoom) for zoom in tiling.zooms]),
    }
    return _saved(kernel, "svg", "image/svg+xml", rendered("kernels/tiling.svg", values))


@router.get("/{kernel_id}/tiling.csv", dependencies=[PAGE, READ])
def read_tiling_numbers(session: ReadSessionDep, kernel_id: str) -> Response:
    """Return the tiling of a kernel as a table, by level."""
    kernel, tiling = _tiled(session, kernel_id)
    return _saved(kernel, "csv", "text/csv; charset=utf-8", levels_csv(tiling.levels))


def _tiled(session: Session, kernel_id: str) -> tuple[Kernel, Tiling]:
    kernel = find_kernel(session, kernel_id)
    if (tiling := read_tiling(kernel)) is None:
        raise NotFound("this version cannot read the kernel's problem or its configuration; tune the problem again")
    return kernel, tiling


def _saved(kernel: Kernel, ending: str, media_type: str, text: str) -> Response:
    name = f"tiling-{kernel.content_hash[:12]}.{ending}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(text, media_type=media_type, headers=headers)
