"""/fleet: trials, failures, prediction errors and gains by device and week."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from db.queries import fleet
from service.api.fleet.service import read_fleet
from service.api.keys.guard import READ
from service.dashboard.charts.answers import chart_answer
from service.dashboard.error_pages import PAGE
from service.dashboard.fleet.charts import Topic, fleet_chart
from service.dashboard.fleet.choice import LENGTHS, understand
from service.dashboard.fleet.reading import device_rows
from service.dashboard.rendering import page
from service.http.deps import ContextDep, ReadSessionDep

router = APIRouter(prefix="/fleet", default_response_class=HTMLResponse)


@router.get("", dependencies=[PAGE, READ])
def read_fleet_page(request: Request, context: ContextDep, session: ReadSessionDep) -> HTMLResponse:
    """All devices over time."""
    choice = understand(request.query_params)
    found = read_fleet(session, choice.asked, context.now())
    values = {
        "choice": choice,
        "found": found,
        "rows": device_rows(found),
        "devices": fleet.devices(session),
        "lengths": LENGTHS,
        "charts": [(topic.value, choice.address(f"/fleet/charts/{topic}")) for topic in Topic],
    }
    return page(request, "fleet/fleet.html", values, "fleet")


@router.get("/charts/{topic}", dependencies=[PAGE, READ])
def read_chart(request: Request, context: ContextDep, session: ReadSessionDep, topic: Topic) -> Response:
    """A chart of all devices over time."""
    asked = understand(request.query_params).asked
    found = read_fleet(session, asked, context.now())
    return chart_answer(request, fleet_chart(found, topic), asked.device or "all devices")
