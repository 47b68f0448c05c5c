"""/compare: two kernels, selected by id, or as the best of two jobs, devices or drivers."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from service.api.keys.guard import READ
from service.dashboard.charts.answers import chart_answer
from service.dashboard.compare.choosing import best_of_job, best_on
from service.dashboard.compare.reading import candidates, compare, times_chart
from service.dashboard.compare.texts import MOST_LINES
from service.dashboard.error_pages import PAGE
from service.dashboard.kernels.reading import find_kernel
from service.dashboard.kernels.stages import reader
from service.dashboard.naming import problem_label
from service.dashboard.rendering import page
from service.errors import BadRequest, NotFound
from service.http.deps import (
    ContextDep,
    ReadSessionDep,
)

router = APIRouter(prefix="/compare", default_response_class=HTMLResponse)

_Several = Annotated[list[str], Query(max_length=200)]


@router.get("", dependencies=[PAGE, READ])
def read_comparison(
    request: Request,
    context: ContextDep,
    session: ReadSessionDep,
    kernel: _Several = [],  # noqa: B006  (FastAPI copies it)
    job: _Several = [],  # noqa: B006
    device: _Several = [],  # noqa: B006
    driver: _Several = [],  # noqa: B006
    problem: str = "",
    stage: str = "",
) -> Response:
    """Show two kernels, or for one its candidates. Jobs, devices and drivers redirect to their best kernels."""
    ids = [each.strip() for each in kernel if each.strip()]
    if len(ids) > 2 or len(job) > 2:
        raise BadRequest(f"two can be compared, and {max(len(ids), len(job))} were chosen; go back and tick two")
    if not ids and len(job) == 1:
        return RedirectResponse(f"/compare?kernel={best_of_job(session, job[0])}", status_code=303)
    if not ids and len(job) == 2:
        return _to([best_of_job(session, each) for each in job])
    if not ids and problem and device:
        devices = device if len(device) == 2 else device * 2
        drivers = driver if len(driver) == 2 else [None, None]
        return _to([best_on(session, problem, *place) for place in zip(devices, drivers, strict=True)])
    found = [find_kernel(session, each) for each in ids]
    if len(found) == 2:
        view = compare(session, found[0], found[1], reader(context.artifacts), stage)
        return page(request, "compare/compare.html", {"view": view, "most": MOST_LINES}, "compare")
    view = candidates(session, found[0]) if found else None
    return page(request, "compare/choose.html", {"view": view}, "compare")


@router.get("/charts/times", dependencies=[PAGE, READ])
def read_times(request: Request, session: ReadSessionDep, kernel: _Several) -> Response:
    """The times of two kernels."""
    if len(kernel) != 2:
        raise NotFound("A chart of two kernels needs two ids: /compare/charts/times?kernel=ID&kernel=ID")
    left, right = (find_kernel(session, each) for each in kernel)
    of = f"{problem_label(left.problem)} {left.content_hash[:8]} and {right.content_hash[:8]}"
    return chart_answer(request, times_chart(session, (left.id, right.id)), of)


def _to(ids: list[str]) -> RedirectResponse:
    return RedirectResponse(f"/compare?kernel={ids[0]}&kernel={ids[1]}", status_code=303)
