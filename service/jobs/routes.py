"""/v1/jobs."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

import anyio
from fastapi import APIRouter, Header, Query, Response
from sse_starlette.sse import EventSourceResponse

from service.audit.log import Outcome, record
from service.deps import ContextDep, DatabaseDep, ReadSessionDep
from service.idempotency.once import OnceDep
from service.jobs import events, service
from service.jobs.requests import submit, understand
from service.jobs.schemas import JobBody, JobOut, JobPage, JobStatus, TrialPage
from service.keys.guard import READ, TUNE, CallerDep, GuardedRoute
from service.limits.streams import CountedStream
from service.responses import BAD_REQUEST, CONFLICT, NOT_FOUND, TOO_LARGE, TOO_MANY, Responses

router = APIRouter(prefix="/v1/jobs", tags=["jobs"], route_class=GuardedRoute)

_CLOSING_S = 2.0  # how long a stream may take to end when the service stops

_LOCATION: dict[str, object] = {
    "headers": {"Location": {"description": "Path of the job", "schema": {"type": "string"}}},
    "description": "Queued",
}
_CREATED: Responses = {202: _LOCATION, 200: _LOCATION | {"model": JobOut, "description": "The same job is active"}}
_STREAM: Responses = {
    200: {
        "description": "Events `trial` (data: TrialOut, id: its number) and `job` (data: JobOut, id `end` when over)",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    },
    204: {"description": "The client has seen the end"},
}


@router.post(
    "", status_code=202, responses=_CREATED | BAD_REQUEST | CONFLICT | TOO_LARGE | TOO_MANY, dependencies=[TUNE]
)
def create_job(body: JobBody, context: ContextDep, response: Response, by: CallerDep, once: OnceDep) -> JobOut:
    """Queue a tuning job. While the same work is queued or running, that job is returned instead."""
    request = understand(body, context.devices, context.settings)
    with once.write() as session:
        job, is_new = submit(session, request, context.settings.max_active_jobs)
        record(session, by, "job.create", job.id, Outcome.DONE if is_new else Outcome.UNCHANGED)
        status = HTTPStatus.ACCEPTED if is_new else HTTPStatus.OK
        return once.answer(session, response, service.describe(session, job), status, service.job_path(job.id))


@router.get("", dependencies=[READ])
def list_jobs(
    session: ReadSessionDep,
    status: Annotated[list[JobStatus] | None, Query(description="Only jobs with one of these")] = None,
    before: Annotated[UUID | None, Query(description="`next_before` of the page before")] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="Most jobs in the answer")] = 50,
) -> JobPage:
    """Jobs, newest first."""
    return service.list_jobs(session, status or [], before, limit)


@router.get("/{job_id}", responses=NOT_FOUND, dependencies=[READ])
def read_job(job_id: UUID, session: ReadSessionDep) -> JobOut:
    """A job: how far it is, and the best so far with its evidence."""
    return service.read_job(session, job_id)


@router.get("/{job_id}/trials", responses=NOT_FOUND, dependencies=[READ])
def list_trials(
    job_id: UUID,
    session: ReadSessionDep,
    after: Annotated[int, Query(ge=-1, le=2**31, description="Only trials numbered above this")] = -1,
    limit: Annotated[int, Query(ge=1, le=1000, description="Most trials in the answer")] = 100,
) -> TrialPage:
    """Trials of a job in order of number, pending ones too."""
    return service.list_trials(session, job_id, after, limit)


@router.get(
    "/{job_id}/events",
    response_class=EventSourceResponse,
    responses=_STREAM | BAD_REQUEST | NOT_FOUND,
    dependencies=[READ],
)
def stream_events(
    job_id: UUID,
    context: ContextDep,
    last_event_id: Annotated[str | None, Header(description="Id of the last event seen, to go on after it")] = None,
) -> Response:
    """Server-sent events: each trial as it ends and the job as it changes, until it is over."""
    after = -1 if last_event_id == events.END else events.last_seen(last_event_id)
    # Asked here, so that a job that does not exist is a 404 and not an empty stream.
    over = events.read_news(context.database, job_id, after).job.status.over
    if over and last_event_id == events.END:
        return Response(status_code=204)
    closing = anyio.Event()
    stream = events.job_events(context.database, job_id, after, context.settings.events_poll_s, closing)
    return CountedStream(context.streams, stream, shutdown_event=closing, shutdown_grace_period=_CLOSING_S)


@router.post("/{job_id}/cancel", responses=NOT_FOUND, dependencies=[TUNE])
def cancel_job(job_id: UUID, database: DatabaseDep, by: CallerDep) -> JobOut:
    """Ask a job to stop: a queued one is over at once, a running one after its present trial."""
    with database.write() as session:
        job = service.cancel(session, job_id)
        record(session, by, "job.cancel", job_id)
    return job
