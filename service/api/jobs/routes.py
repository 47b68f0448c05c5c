"""/v1/jobs."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Header, Path, Query, Response

from service.api.jobs import listing, service
from service.api.jobs.listing import (
    JobQuery,
    TrialQuery,
)
from service.api.jobs.schemas import (
    JobBody,
    JobOut,
    JobPage,
    TrialPage,
)
from service.api.keys.guard import (
    READ,
    TUNE,
    CallerDep,
    guarded_router,
)
from service.http.deps import (
    ContextDep,
    DatabaseDep,
    ReadSessionDep,
)
from service.http.idempotency import OnceDep
from service.http.responses import (
    BAD_REQUEST,
    CONFLICT,
    NOT_FOUND,
    TOO_LARGE,
    TOO_MANY,
    Responses,
)
from service.telemetry.loggers import Logger

router = guarded_router("/v1/jobs", "jobs")

_log = Logger(__name__)
_CLOSING_S = 2.0  # time that a stream may take to end when the service stops

JobId = Annotated[UUID, Path(description="Id of the job", examples=["01970a3c-0000-7000-8000-000000000000"])]
LastEventId = Annotated[
    str | None, Header(description="Id of the last event seen, to continue after it", examples=["12"])
]
_LOCATION: dict[str, object] = {
    "headers": {"Location": {"description": "Path of the job", "schema": {"type": "string"}}},
    "description": "Queued",
}
_CREATED: Responses = {202: _LOCATION, 200: _LOCATION | {"model": JobOut, "description": "The same job is active"}}
_EVENT = 'event: trial\nid: 7\ndata: {"number": 7, "status": "measured", ...}\n\n'
_STREAM: Responses = {
    200: {
        "description": "Events `trial` (data: TrialOut, id: its number) and `job` (data: JobOut, id `end` when over)",
        "content": {"text/event-stream": {"schema": {"type": "string"}, "example": _EVENT}},
    },
    204: {"description": "The client has seen the end"},
}


class EventStream(Response):
    """The media type of event streams, for the contract."""

    media_type = "text/event-stream"


@router.post(
    "", status_code=202, responses=_CREATED | BAD_REQUEST | CONFLICT | TOO_LARGE | TOO_MANY, dependencies=[TUNE]
)
def create_job(body: JobBody, context: ContextDep, response: Response, by: CallerDep, once: OnceDep) -> JobOut:
    """Queue a tuning job. If an identical job is queued or running, that job is returned instead."""
    # Imported in functions: lists need nothing of devices, searches or streams.
    from service.api.jobs.requests import submit, understand

    request = understand(body, context.devices, context.settings)
    with once.write() as session:
        job, is_new = submit(session, request, context.settings.max_active_jobs, by)
        status = HTTPStatus.ACCEPTED if is_new else HTTPStatus.OK
        answer = once.answer(session, response, service.describe(session, job), status, service.job_path(job.id))
    _log.info("job queued" if is_new else "job is there already", job=str(job.id))  # not before it is stored
    return answer


@router.get("", dependencies=[READ])
def list_jobs(session: ReadSessionDep, query: Annotated[JobQuery, Query()]) -> JobPage:
    """Jobs, newest first."""
    return listing.list_jobs(session, query.filter(), query.limit, query.before)


@router.get("/{job_id}", responses=NOT_FOUND, dependencies=[READ])
def read_job(job_id: JobId, session: ReadSessionDep) -> JobOut:
    """Return a job: its progress, and its best configuration so far with the evidence."""
    return service.read_job(session, job_id)


@router.get("/{job_id}/trials", responses=NOT_FOUND, dependencies=[READ])
def list_trials(job_id: JobId, session: ReadSessionDep, query: Annotated[TrialQuery, Query()]) -> TrialPage:
    """List the trials of a job in order of number, including pending ones."""
    return listing.list_trials(session, job_id, query.after, query.limit, query.status)


@router.get(
    "/{job_id}/events",
    response_class=EventStream,
    responses=_STREAM | BAD_REQUEST | NOT_FOUND,
    dependencies=[READ],
)
def stream_events(
    job_id: JobId,
    context: ContextDep,
    last_event_id: LastEventId = None,
) -> Response:
    """Stream server-sent events: each trial as it ends and the job as it changes, until it is over.

    With Last-Event-ID the stream continues after that event, which it must have sent; after `end` the
    response is 204.
    """
    import anyio

    from service.api.jobs import events
    from service.http.counted_stream import CountedStream

    after = -1 if last_event_id == events.END else events.last_seen(last_event_id)
    # Checked before the stream starts, so that an unknown job is a 404 and not an empty stream.
    over = context.news.read(job_id, after).job.status.over
    events.check_told(context.database, job_id, after)
    if over and last_event_id == events.END:
        return Response(status_code=204)
    closing = anyio.Event()
    stream = events.job_events(context.news.read, job_id, after, context.settings.events_poll_s, closing)
    return CountedStream(context.streams, stream, shutdown_event=closing, shutdown_grace_period=_CLOSING_S)


@router.post("/{job_id}/cancel", responses=NOT_FOUND, dependencies=[TUNE])
def cancel_job(job_id: JobId, database: DatabaseDep, by: CallerDep) -> JobOut:
    """Cancel a job: a queued one ends at once, a running one after its current trial.

    Its results are kept: its trials, and its best so far, which lookups then serve.
    """
    with database.write() as session:
        return service.cancel(session, job_id, by)


@router.post(
    "/{job_id}/retry",
    status_code=202,
    responses=_CREATED | BAD_REQUEST | NOT_FOUND | CONFLICT | TOO_MANY,
    dependencies=[TUNE],
)
def retry_job(job_id: JobId, context: ContextDep, response: Response, by: CallerDep, once: OnceDep) -> JobOut:
    """Resubmit a failed or cancelled job: a new job, which refers to the old one.

    The request is validated again. If an identical job is queued or running, that job is returned instead.
    """
    from service.api.jobs.requests import submit, understand
    from service.api.jobs.retrying import asked_by

    with context.database.read() as session:
        body = asked_by(session, service.find_job(session, job_id))
    request = understand(body, context.devices, context.settings)
    with once.write() as session:
        job, is_new = submit(session, request, context.settings.max_active_jobs, by, retry_of=job_id)
        status = HTTPStatus.ACCEPTED if is_new else HTTPStatus.OK
        return once.answer(session, response, service.describe(session, job), status, service.job_path(job.id))
