"""/: the first page and its live part."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from service.api.keys.guard import (
    READ,
    CallerDep,
)
from service.dashboard.charts.answers import chart_answer
from service.dashboard.error_pages import PAGE
from service.dashboard.forms import first_job, offered
from service.dashboard.jobs.commands import curl_post
from service.dashboard.overview.reading import gains_chart, read_now, schedule_rows
from service.dashboard.rendering import page
from service.http.deps import (
    ContextDep,
    ReadSessionDep,
)

router = APIRouter(default_response_class=HTMLResponse)

_SCHEDULE_EXAMPLE = """\
 -d '{
  "name": "nightly", "cron": "0 2 * * *", "timezone": "Europe/Warsaw",
  "job": {"problem": {"m": 512, "n": 384, "k": 1024}, "device": "auto", "budget": {"trials": 50}}}'"""


@router.get("/", dependencies=[PAGE, READ])
def read_overview(request: Request, context: ContextDep, session: ReadSessionDep, asker: CallerDep) -> HTMLResponse:
    """Show current work, latest winners, devices, schedules, and the form that starts a job."""
    values = {
        "view": read_now(session, context.devices.all(), context.now()),
        "offered": offered(session, context),
        "job": first_job(),
        "schedules": list(schedule_rows(session)),
        "schedule_example": curl_post(f"{request.base_url}v1/schedules", asker.key_id is not None) + _SCHEDULE_EXAMPLE,
    }
    return page(request, "overview/overview.html", values, "overview")


@router.get("/now", dependencies=[PAGE, READ])
def read_live(request: Request, context: ContextDep, session: ReadSessionDep, seen: str = "") -> Response:
    """The live part; nothing while all is as it was `seen`."""
    view = read_now(session, context.devices.all(), context.now())
    if view.news == seen:
        return Response(status_code=204)
    answer = page(request, "overview/_now.html", {"view": view})
    answer.headers["HX-Trigger"] = "news"
    return answer


@router.get("/charts/gains", dependencies=[PAGE, READ])
def read_gains(request: Request, session: ReadSessionDep) -> Response:
    """Gains over the default."""
    return chart_answer(request, gains_chart(session))
