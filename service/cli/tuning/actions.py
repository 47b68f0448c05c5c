"""Actions of commands on jobs and shape sets."""

from typing import TYPE_CHECKING
from uuid import UUID

from service.api.jobs.schemas import JobBody, JobOut
from service.api.keys.caller import COMMAND_LINE
from service.cli.access.resource import Action, Done, Removal, removed

if TYPE_CHECKING:
    from service.api.shapes.schemas import ShapeSetBody, ShapeSetOut
    from service.http.context import Context

# The functions of routes are imported when an action is done here: with a service none is needed.


def creation_of_job(body: JobBody) -> Action[JobOut]:
    """Return the action that queues a job; its answer may have no roofline."""

    def create(context: "Context") -> Done[JobOut]:
        return _queue(context, body)

    return Action("/v1/jobs", body, JobOut, create, creates=True)


def retry_of(job_id: UUID) -> Action[JobOut]:
    """Return the action that resubmits a failed or cancelled job; its answer may have no roofline."""

    def retry(context: "Context") -> Done[JobOut]:
        from service.api.jobs.retrying import asked_by
        from service.api.jobs.service import find_job

        with context.database.read() as session:
            body = asked_by(session, find_job(session, job_id))
        return _queue(context, body, retry_of=job_id)

    return Action(f"/v1/jobs/{job_id}/retry", None, JobOut, retry, creates=True)


def _queue(context: "Context", body: JobBody, retry_of: UUID | None = None) -> Done[JobOut]:
    from service.api.jobs.requests import submit, understand
    from service.api.jobs.service import describe

    request = understand(body, context.devices, context.settings)
    with context.database.write() as session:
        job, is_new = submit(session, request, context.settings.max_active_jobs, COMMAND_LINE, retry_of=retry_of)
        return Done(describe(session, job, roofs=False), is_new)


def cancellation_of(job_id: UUID, *, roofs: bool = False) -> Action[JobOut]:
    """Return the action that cancels a job; without `roofs` its answer may have no roofline."""

    def cancel(context: "Context") -> Done[JobOut]:
        from service.api.jobs import service

        with context.database.write() as session:
            return Done(service.cancel(session, job_id, COMMAND_LINE, roofs=roofs))

    return Action(f"/v1/jobs/{job_id}/cancel", None, JobOut, cancel)


def creation_of_set(body: "ShapeSetBody") -> "Action[ShapeSetOut]":
    """Return the action that queues a shape set."""
    from service.api.shapes.schemas import ShapeSetOut

    def create(context: "Context") -> Done[ShapeSetOut]:
        from service.api.shapes.requests import submit, understand
        from service.api.shapes.service import read_set

        request = understand(body, context.devices, context.settings)
        with context.database.write() as session:
            set_id, is_new = submit(session, request, context.settings.max_active_jobs, COMMAND_LINE)
            return Done(read_set(session, set_id), is_new)

    return Action("/v1/shape-sets", body, ShapeSetOut, create, creates=True)


def cancellation_of_set(set_id: UUID) -> "Action[ShapeSetOut]":
    """Return the action that cancels a shape set and its jobs."""
    from service.api.shapes.schemas import ShapeSetOut

    def cancel(context: "Context") -> Done[ShapeSetOut]:
        from service.api.shapes import service

        with context.database.write() as session:
            return Done(service.cancel(session, set_id, COMMAND_LINE))

    return Action(f"/v1/shape-sets/{set_id}/cancel", None, ShapeSetOut, cancel)


def removal_of_set(set_id: UUID) -> Removal:
    """Return the removal of a shape set that is over."""
    return removed("/v1/shape-sets", "service.api.shapes.service:forget", set_id)
