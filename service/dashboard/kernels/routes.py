"""/kernels: the list, and a kernel."""

from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from service.artifacts import ArtifactDamaged, ArtifactStore
from service.dashboard.kernels.reading import kernel_page
from service.dashboard.kernels.rows import kernel_list, understand
from service.dashboard.problem_pages import PAGE
from service.dashboard.rendering import page
from service.deps import ContextDep, ReadSessionDep
from service.keys.guard import READ

router = APIRouter(prefix="/kernels", default_response_class=HTMLResponse)


@router.get("", dependencies=[PAGE, READ])
def read_kernels(request: Request, session: ReadSessionDep) -> HTMLResponse:
    """Kernels, newest first."""
    wanted = understand(request.query_params)
    return page(request, "kernels/list.html", {"view": kernel_list(session, wanted)}, "kernels")


@router.get("/{kernel_id}", dependencies=[PAGE, READ])
def read_kernel(request: Request, context: ContextDep, session: ReadSessionDep, kernel_id: str) -> HTMLResponse:
    """A kernel: launch, evidence, and its stages side by side."""
    view = kernel_page(session, kernel_id, partial(_bytes, context.artifacts))
    return page(request, "kernels/kernel.html", {"view": view}, "kernels")


def _bytes(artifacts: ArtifactStore, sha256: str) -> bytes | None:
    try:
        return artifacts.read(sha256)
    except ArtifactDamaged:
        return None
