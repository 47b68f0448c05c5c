"""/v1/schedules."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query, Response

from service.api.keys.guard import (
    READ,
    TUNE,
    CallerDep,
    guarded_router,
)
from service.api.schedules import service
from service.api.schedules.schemas import (
    DueList,
    FireOut,
    FirePage,
    ScheduleBody,
    ScheduleList,
    ScheduleOut,
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
)

router = guarded_router("/v1/schedules", "schedules")

ScheduleId = Annotated[UUID, Path(description="Id of the schedule", examples=["01970a3c-0000-7000-8000-000000000000"])]


@router.post("", status_code=201, responses=BAD_REQUEST | CONFLICT | TOO_LARGE, dependencies=[TUNE])
def create_schedule(
    body: ScheduleBody, context: ContextDep, response: Response, by: CallerDep, once: OnceDep
) -> ScheduleOut:
    """Create a schedule: a job, a set of shapes, or jobs for stale results; validated now and at every run."""
    due_at = service.check(body, context, context.now())
    with once.write() as session:
        schedule = service.create(session, body, due_at, by)
        return once.answer(session, response, schedule, HTTPStatus.CREATED, f"/v1/schedules/{schedule.id}")


@router.get("", dependencies=[READ])
def list_schedules(session: ReadSessionDep) -> ScheduleList:
    """List schedules with their next and last runs."""
    return service.list_schedules(session)


@router.get("/{schedule_id}", responses=NOT_FOUND, dependencies=[READ])
def read_schedule(schedule_id: ScheduleId, session: ReadSessionDep) -> ScheduleOut:
    """Return a schedule with its next and last runs."""
    return service.read_schedule(session, schedule_id)


@router.put("/{schedule_id}", responses=BAD_REQUEST | NOT_FOUND | CONFLICT | TOO_LARGE, dependencies=[TUNE])
def replace_schedule(schedule_id: ScheduleId, body: ScheduleBody, context: ContextDep, by: CallerDep) -> ScheduleOut:
    """Replace a schedule, validated as a new one; its id, history and paused state are kept."""
    due_at = service.check(body, context, context.now())
    with context.database.write() as session:
        return service.replace(session, schedule_id, body, due_at, by)


@router.delete("/{schedule_id}", status_code=204, responses=NOT_FOUND, dependencies=[TUNE])
def delete_schedule(schedule_id: ScheduleId, database: DatabaseDep, by: CallerDep) -> None:
    """Delete a schedule; the jobs it started are kept."""
    with database.write() as session:
        service.delete(session, schedule_id, by)


@router.post("/{schedule_id}/pause", responses=NOT_FOUND, dependencies=[TUNE])
def pause_schedule(schedule_id: ScheduleId, database: DatabaseDep, by: CallerDep) -> ScheduleOut:
    """Pause a schedule until it is resumed."""
    with database.write() as session:
        return service.pause(session, schedule_id, by)


@router.post("/{schedule_id}/resume", responses=NOT_FOUND, dependencies=[TUNE])
def resume_schedule(schedule_id: ScheduleId, context: ContextDep, by: CallerDep) -> ScheduleOut:
    """Resume a schedule from the next due time on."""
    with context.database.write() as session:
        return service.resume(session, schedule_id, context.now(), by)


@router.post(
    "/{schedule_id}/run",
    status_code=201,
    responses=BAD_REQUEST | NOT_FOUND | CONFLICT | TOO_MANY,
    dependencies=[TUNE],
)
def run_schedule(
    schedule_id: ScheduleId, context: ContextDep, response: Response, by: CallerDep, once: OnceDep
) -> FireOut:
    """Run a schedule now, in addition to its due times, even while it is paused."""
    work = service.work_now(context, schedule_id, by)
    with once.write() as session:
        fire = service.run_now(session, schedule_id, work, by, context.settings.max_active_jobs, context.now())
        return once.answer(session, response, fire, HTTPStatus.CREATED, f"/v1/schedules/{schedule_id}/fires")


@router.get("/{schedule_id}/next", responses=BAD_REQUEST | NOT_FOUND, dependencies=[READ])
def list_next_times(
    schedule_id: ScheduleId,
    session: ReadSessionDep,
    count: Annotated[int, Query(ge=1, le=100, description="How many", examples=[5])] = 5,
) -> DueList:
    """Return the next due times of a schedule."""
    return service.next_times(session, schedule_id, count)


@router.get("/{schedule_id}/fires", responses=NOT_FOUND, dependencies=[READ])
def list_fires(
    schedule_id: ScheduleId,
    session: ReadSessionDep,
    before: Annotated[
        int | None, Query(ge=0, le=2**62, description="`next_before` of the page before", examples=[17])
    ] = None,
    limit: Annotated[
        int, Query(ge=1, le=200, description="Maximum number of runs in the response", examples=[50])
    ] = 50,
) -> FirePage:
    """List the runs of a schedule, newest first: what each started, and what was missed or refused."""
    return service.history(session, schedule_id, before, limit)
