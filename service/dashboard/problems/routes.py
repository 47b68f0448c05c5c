"""/problems: the list, and a problem on a device with its charts."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from service.api.keys.guard import READ
from service.dashboard.charts.answers import chart_answer
from service.dashboard.compare.choosing import best_everywhere
from service.dashboard.error_pages import PAGE
from service.dashboard.jobs.rows import job_rows
from service.dashboard.kernels.rows import kernel_rows
from service.dashboard.naming import config_label, problem_label, problem_pairs
from service.dashboard.problem_filter import misread
from service.dashboard.problems import charts
from service.dashboard.problems.choices import choices_of
from service.dashboard.problems.heat import read_heat_map
from service.dashboard.problems.rows import pair_href, pair_list, understand
from service.dashboard.problems.samples import read_pair
from service.dashboard.rendering import page
from service.errors import NotFound
from service.http.deps import ReadSessionDep

router = APIRouter(prefix="/problems", default_response_class=HTMLResponse)

_MOST_JOBS = 10


@router.get("", dependencies=[PAGE, READ])
def read_problems(request: Request, session: ReadSessionDep) -> HTMLResponse:
    """Problems, newest first, with every device that they were tuned on."""
    view = pair_list(session, understand(request.query_params))
    return page(request, "problems/list.html", {"view": view}, "problems")


@router.get("/{key}/on/{device}", dependencies=[PAGE, READ])
def read_problem(
    request: Request, session: ReadSessionDep, key: str, device: str, x: str = "", y: str = ""
) -> HTMLResponse:
    """A problem on a device, over all its jobs; `x` and `y` are the parameters of the map of times."""
    pair = read_pair(session, key, device)
    names = charts.parameters(pair)
    tiles = [name for name in ("block m", "block n") if name in names]
    default_x, default_y = (*tiles, *(name for name in names if name not in tiles), "", "")[:2]
    values: dict[str, object] = {
        "pair": pair,
        "href": pair_href(pair.problem, device),
        "label": problem_label(pair.problem),
        "facts": list(problem_pairs(pair.problem)),
        "choices": [(choice, choice.figure(pair), config_label(choice.sample.config)) for choice in choices_of(pair)],
        "parameters": names,
        "unread": [said for axis in ("x", "y") for said in misread(request.query_params, axis, names)],
        "x": x if x in names else default_x,
        "y": y if y in names else default_y,
        "places": list(kernel_rows(session, best_everywhere(session, pair.problem.key))),
        "jobs": list(job_rows(session, pair.jobs[:_MOST_JOBS])),
    }
    return page(request, "problems/problem.html", values, "problems")


@router.get("/{key}/on/{device}/charts/{name}", dependencies=[PAGE, READ])
def read_chart(
    request: Request, session: ReadSessionDep, key: str, device: str, name: str, x: str = "block m", y: str = "block n"
) -> Response:
    """A chart of a problem on a device."""
    pair = read_pair(session, key, device)
    if name == "heat":
        known = {name for sample in pair.samples for name in sample.fields}
        if known and (unknown := [name for name in (x, y) if name and name not in known]):
            raise NotFound(f"no trial has the parameter {unknown[0][:80]!r}; there are {', '.join(sorted(known))}")
        return chart_answer(request, read_heat_map(session, pair, x[:80], y[:80]), pair.label)
    if name not in charts.CHARTS:
        raise NotFound(f"a problem has no chart {name!r}; it has heat, {', '.join(charts.CHARTS)}")
    return chart_answer(request, charts.CHARTS[name](pair), pair.label)
