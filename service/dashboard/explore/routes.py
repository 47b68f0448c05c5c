"""/explore: trials over axes of the reader's choice; the address holds the choice."""

from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from service.dashboard.charts.answers import chart_answer
from service.dashboard.explore.reading import axes, chosen, explore_chart, parts_of
from service.dashboard.naming import problem_label
from service.dashboard.problem_pages import PAGE
from service.dashboard.problems.charts import parameters
from service.dashboard.problems.rows import pair_list, understand
from service.dashboard.problems.samples import read_pair
from service.dashboard.rendering import page
from service.deps import ReadSessionDep
from service.keys.guard import READ

router = APIRouter(prefix="/explore", default_response_class=HTMLResponse)


@router.get("", dependencies=[PAGE, READ])
def read_explore(
    request: Request,
    session: ReadSessionDep,
    problem: str = "",
    device: str = "",
    x: str = "",
    y: str = "",
    parts: str = "",
) -> HTMLResponse:
    """The chart of a choice, or the problems and devices to choose from."""
    if not problem or not device:
        view = pair_list(session, understand(request.query_params))
        return page(request, "explore/choose.html", {"view": view}, "explore")
    pair = read_pair(session, problem, device)
    view = chosen(pair, x, y, parts)
    common = {"problem": problem, "device": device, "x": view.x, "y": view.y, "parts": view.parts}
    charts = [
        (str(value), "/explore/chart?" + urlencode(common | {"part": str(value)}))
        for value in (parts_of(pair, view) if view.parts else [""])
    ]
    values = {
        "pair": pair,
        "label": problem_label(pair.problem),
        "problem": problem,
        "view": view,
        "axes": axes(pair),
        "parameters": parameters(pair),
        "charts": charts,
    }
    return page(request, "explore/explore.html", values, "explore")


@router.get("/chart", dependencies=[PAGE, READ])
def read_chart(
    request: Request,
    session: ReadSessionDep,
    problem: str,
    device: str,
    x: str = "",
    y: str = "",
    parts: str = "",
    part: str = "",
) -> Response:
    """The chart of a choice."""
    pair = read_pair(session, problem, device)
    return chart_answer(request, explore_chart(pair, chosen(pair, x, y, parts), part[:80]))
