"""/kernels: the list, a kernel, and a text of one."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from service.dashboard.highlight import MAX_LINES
from service.dashboard.kernels.reading import find_kernel, kernel_page
from service.dashboard.kernels.rows import kernel_list, understand
from service.dashboard.kernels.stages import reader, stage, texts
from service.dashboard.naming import problem_label
from service.dashboard.problem_pages import PAGE
from service.dashboard.rendering import page
from service.deps import ContextDep, ReadSessionDep
from service.errors import NotFound
from service.keys.guard import READ

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
