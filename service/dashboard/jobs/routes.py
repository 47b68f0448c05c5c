"""/jobs: the list, a job and its live parts, its charts, a trial."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from service.api.keys.guard import (
    READ,
    CallerDep,
)
from service.dashboard.charts.answers import chart_answer
from service.dashboard.error_pages import PAGE
from service.dashboard.jobs import rows, selection
from service.dashboard.jobs.charts import Asked, job_chart
from service.dashboard.jobs.reading import find_job, job_page, news_of, one_trial
from service.dashboard.jobs.trials import understand
from service.dashboard.naming import problem_label
from service.dashboard.rendering import page
from service.errors import NotFound
from service.http.deps import ReadSessionDep

router = APIRouter(prefix="/jobs", default_response_class=HTMLResponse)

_Word = Annotated[str, Query()]


@router.get("", dependencies=[PAGE, READ])
def read_jobs(request: Request, session: ReadSessionDep) -> HTMLResponse:
    """Jobs, newest first."""
    wanted = rows.understand(request.query_params)
    return page(request, "jobs/list.html", {"view": rows.job_list(session, wanted)}, "jobs")


@router.get("/{job_id}", dependencies=[PAGE, READ])
def read_job(
    request: Request,
    session: ReadSessionDep,
    asker: CallerDep,
    job_id: str,
    sort: _Word = "time",
    outcome: _Word = "",
    by: _Word = "",
    after: _Word = "",
) -> HTMLResponse:
    """A job and one page of its trials."""
    wanted = understand(sort, outcome, by, after)
    view = job_page(session, find_job(session, job_id), wanted, str(request.base_url), asker.key_id is not None)
    return page(request, "jobs/job.html", {"view": view, "fresh": False}, "jobs")


@router.get("/{job_id}/live", dependencies=[PAGE, READ])
def read_job_parts(
    request: Request,
    session: ReadSessionDep,
    asker: CallerDep,
    job_id: str,
    seen: _Word = "",
    sort: _Word = "time",
    outcome: _Word = "",
    by: _Word = "",
    after: _Word = "",
) -> Response:
    """The parts of a job's page that change while it runs; nothing while all is as it was `seen`."""
    job = find_job(session, job_id)
    if news_of(session, job) == seen:
        return Response(status_code=204)
    wanted = understand(sort, outcome, by, after)
    view = job_page(session, job, wanted, str(request.base_url), asker.key_id is not None)
    answer = page(request, "jobs/_live.html", {"view": view, "fresh": True})
    answer.headers["HX-Trigger"] = "news"
    return answer


@router.get("/{job_id}/charts/{name}", dependencies=[PAGE, READ])
def read_chart(
    request: Request, session: ReadSessionDep, job_id: str, name: str, x: _Word = "", y: _Word = ""
) -> Response:
    """A chart of a job; `where` in the query selects trials, `x` and `y` are the parameters of the map."""
    job = find_job(session, job_id)
    chosen = selection.understand(request.query_params.getlist("where"))
    of = f"{problem_label(job.problem)} on {job.device.slug}"
    return chart_answer(request, job_chart(name, Asked(session, job, chosen, x, y)), of)


@router.get("/{job_id}/trials/{number}", dependencies=[PAGE, READ])
def read_trial(request: Request, session: ReadSessionDep, job_id: str, number: str) -> HTMLResponse:
    """A trial in full."""
    # At most as many digits as any real number has: Python refuses to read enormous ones.
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        raise NotFound(f"the job has no trial {number}")
    view = one_trial(session, find_job(session, job_id), int(number))
    return page(request, "jobs/trial.html", {"view": view}, "jobs")
