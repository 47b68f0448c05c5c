"""Schedules: made, listed, paused, resumed, removed."""

from datetime import datetime
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db import schedules
from db.base import JsonObject
from db.models import Schedule
from service.errors import BadRequest, Conflict, FieldError, NotFound
from service.jobs.schemas import JobBody
from service.schedules.cron import next_due, parse_cron
from service.schedules.schemas import FireOut, ScheduleBody, ScheduleList, ScheduleOut
from service.settings import Settings

_SHOWN_FIRES = 10


def first_due(body: ScheduleBody, settings: Settings, now: datetime) -> datetime:
    """When a schedule comes due first, in UTC.

    Raises:
        BadRequest: rule `cron`, `timezone` or `misfire-grace`.
    """
    if not 1 <= body.misfire_grace_s <= settings.max_misfire_grace_s:
        message = f"expected 1 to {settings.max_misfire_grace_s} seconds, got {body.misfire_grace_s}"
        fault = FieldError(field="misfire_grace_s", message=message)
        raise BadRequest(f"misfire_grace_s: {message}", rule="misfire-grace", errors=[fault])
    return _due_after(body.cron, body.timezone, now)


def create(session: Session, body: ScheduleBody, due_at: datetime) -> ScheduleOut:
    """Add a schedule that passed `first_due`.

    Raises:
        Conflict: the name is taken.
    """
    if schedules.by_name(session, body.name) is not None:
        raise _taken(body.name)
    try:
        schedule = schedules.create(
            session,
            name=body.name,
            cron=body.cron,
            timezone=body.timezone,
            template=body.job.model_dump(mode="json"),
            misfire_grace_s=body.misfire_grace_s,
            next_due_at=due_at,
        )
    except IntegrityError as error:  # another request took the name since
        raise _taken(body.name) from error
    return describe(session, schedule)


def list_schedules(session: Session) -> ScheduleList:
    """Every schedule, by name."""
    return ScheduleList(schedules=[describe(session, row) for row in schedules.list_all(session)])


def read_schedule(session: Session, schedule_id: UUID) -> ScheduleOut:
    """One schedule.

    Raises:
        NotFound: there is none.
    """
    return describe(session, _existing(session, schedule_id))


def delete(session: Session, schedule_id: UUID) -> None:
    """Remove a schedule; the jobs it started stay.

    Raises:
        NotFound: there is none.
    """
    schedules.delete(session, _existing(session, schedule_id))


def pause(session: Session, schedule_id: UUID) -> ScheduleOut:
    """Stop firing; one that is paused stays as it is.

    Raises:
        NotFound: there is none.
    """
    schedule = _existing(session, schedule_id)
    schedule.enabled, schedule.next_due_at = False, None
    session.flush()
    return describe(session, schedule)


def resume(session: Session, schedule_id: UUID, now: datetime) -> ScheduleOut:
    """Fire again from the next due time on: what came due in the pause does not count.

    Raises:
        NotFound: there is none.
    """
    schedule = _existing(session, schedule_id)
    if not schedule.enabled:
        schedule.enabled, schedule.next_due_at = True, _due_after(schedule.cron, schedule.timezone, now)
        session.flush()
    return describe(session, schedule)


def describe(session: Session, schedule: Schedule) -> ScheduleOut:
    """A schedule as the wire says it, with its last fires."""
    return ScheduleOut(
        id=schedule.id,
        name=schedule.name,
        cron=schedule.cron,
        timezone=schedule.timezone,
        job=_request(schedule.template),
        misfire_grace_s=schedule.misfire_grace_s,
        enabled=schedule.enabled,
        next_due_at=schedule.next_due_at,
        created_at=schedule.created_at,
        fires=[
            FireOut.model_validate(
                {
                    "due_at": fire.due_at,
                    "fired_at": fire.fired_at,
                    "outcome": fire.outcome,
                    "job": fire.job_id,
                    "reason": fire.reason,
                }
            )
            for fire in schedules.list_fires(session, schedule.id, limit=_SHOWN_FIRES)
        ],
    )


def _request(template: JsonObject) -> JobBody | dict[str, object]:
    try:
        return JobBody.model_validate(template)
    except ValidationError:  # of another version of this program: shown as it is stored, refused when it fires
        return dict(template)


def _due_after(cron: str, timezone: str, now: datetime) -> datetime:
    due_at = next_due(parse_cron(cron, timezone), now)
    if due_at is None:
        fault = FieldError(field="cron", message="never comes due")
        raise BadRequest(f"{cron!r} never comes due; name a day that exists", rule="cron", errors=[fault])
    return due_at


def _taken(name: str) -> Conflict:
    return Conflict(f"a schedule named {name!r} exists; choose another name or delete it", rule="unique-name")


def _existing(session: Session, schedule_id: UUID) -> Schedule:
    schedule = schedules.get(session, schedule_id)
    if schedule is None:
        raise NotFound(f"schedule {schedule_id} does not exist; GET /v1/schedules lists those that do")
    return schedule
