"""/v1/schedules."""

from http import HTTPStatus
from uuid import UUID

from fastapi import APIRouter, Response

from service.audit.log import record
from service.deps import ContextDep, DatabaseDep, ReadSessionDep
from service.idempotency.once import OnceDep
from service.jobs.requests import understand
from service.keys.guard import READ, TUNE, CallerDep, GuardedRoute
from service.responses import BAD_REQUEST, CONFLICT, NOT_FOUND, TOO_LARGE
from service.schedules import service
from service.schedules.schemas import ScheduleBody, ScheduleList, ScheduleOut

router = APIRouter(prefix="/v1/schedules", tags=["schedules"], route_class=GuardedRoute)


@router.post("", status_code=201, responses=BAD_REQUEST | CONFLICT | TOO_LARGE, dependencies=[TUNE])
def create_schedule(
    body: ScheduleBody, context: ContextDep, response: Response, by: CallerDep, once: OnceDep
) -> ScheduleOut:
    """Start a job by the clock. Its request is checked now, and again at every fire."""
    due_at = service.first_due(body, context.settings, context.now())
    understand(body.job, context.devices, context.settings)
    with once.write() as session:
        schedule = service.create(session, body, due_at)
        record(session, by, "schedule.create", schedule.id)
        return once.answer(session, response, schedule, HTTPStatus.CREATED, f"/v1/schedules/{schedule.id}")


@router.get("", dependencies=[READ])
def list_schedules(session: ReadSessionDep) -> ScheduleList:
    """Every schedule with its next run and last fires."""
    return service.list_schedules(session)


@router.get("/{schedule_id}", responses=NOT_FOUND, dependencies=[READ])
def read_schedule(schedule_id: UUID, session: ReadSessionDep) -> ScheduleOut:
    """One schedule with its next run and last fires."""
    return service.read_schedule(session, schedule_id)


@router.delete("/{schedule_id}", status_code=204, responses=NOT_FOUND, dependencies=[TUNE])
def delete_schedule(schedule_id: UUID, database: DatabaseDep, by: CallerDep) -> None:
    """Remove a schedule; the jobs it started stay."""
    with database.write() as session:
        service.delete(session, schedule_id)
        record(session, by, "schedule.delete", schedule_id)


@router.post("/{schedule_id}/pause", responses=NOT_FOUND, dependencies=[TUNE])
def pause_schedule(schedule_id: UUID, database: DatabaseDep, by: CallerDep) -> ScheduleOut:
    """Stop firing until resumed."""
    with database.write() as session:
        schedule = service.pause(session, schedule_id)
        record(session, by, "schedule.pause", schedule_id)
    return schedule


@router.post("/{schedule_id}/resume", responses=NOT_FOUND, dependencies=[TUNE])
def resume_schedule(schedule_id: UUID, context: ContextDep, by: CallerDep) -> ScheduleOut:
    """Fire again, from the next due time on."""
    with context.database.write() as session:
        schedule = service.resume(session, schedule_id, context.now())
        record(session, by, "schedule.resume", schedule_id)
    return schedule
