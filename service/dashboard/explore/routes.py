"""/explore: trials over axes of the reader's choice; the address holds the choice."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from service.api.keys.guard import READ
from service.dashboard.charts.answers import chart_answer
from service.dashboard.error_pages import PAGE
from service.dashboard.explore.chart import explore_chart
from service.dashboard.explore.choice import EVIDENCES, OUTCOME, understand
from service.dashboard.explore.reading import choices, chosen, parts_of, read_scope, settle
from service.dashboard.jobs.history import FAILURES
from service.dashboard.naming import problem_label
from service.dashboard.problem_filter import misread
from service.dashboard.problems.rows import pair_list
from service.dashboard.problems.rows import understand as understand_problems
from service.dashboard.rendering import page
from service.errors import BadRequest
from service.http.deps import ReadSessionDep

router = APIRouter(prefix="/explore", default_response_class=HTMLResponse)

_OUTCOMES = ("measured", "predicted", *FAILURES)


@router.get("", dependencies=[PAGE, READ])
def read_explore(request: Request, session: ReadSessionDep) -> HTMLResponse:
    """The charts of a choice, or the problems and devices to choose from."""
    asked = understand(request.query_params)
    if not asked.scoped:
        found = pair_list(session, understand_problems(request.query_params))
        return page(request, "explore/choose.html", {"view": found}, "explore")
    pair = read_scope(session, asked)
    view = settle(pair, asked)
    offered = choices(pair)
    words = request.query_params
    known = {
        **dict.fromkeys(("x", "y"), offered.axes),
        "colour": (OUTCOME, *offered.parameters),
        "parts": offered.parameters,
        "evidence": EVIDENCES,
        "outcome": _OUTCOMES,
    }
    parts = [str(value) for value in parts_of(chosen(pair, view), view.parts)] if view.parts else [""]
    values = {
        "pair": pair,
        "label": problem_label(pair.problem),
        "view": view,
        "choices": offered,
        "outcomes": _OUTCOMES,
        "unread": [said for name, of in known.items() for said in misread(words, name, of)],
        "charts": [(part, view.chart(part)) for part in parts],
    }
    return page(request, "explore/explore.html", values, "explore")


@router.get("/chart", dependencies=[PAGE, READ])
def read_chart(request: Request, session: ReadSessionDep, part: str = "") -> Response:
    """The chart of a choice."""
    asked = understand(request.query_params)
    if not asked.scoped:
        raise BadRequest("a chart of trials needs `job`, or `problem` and `device`, in its address")
    pair = read_scope(session, asked)
    return chart_answer(request, explore_chart(pair, settle(pair, asked), part[:120]), pair.label)
