"""Creation, listing, change, pause, resumption and deletion of schedules."""

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from pydantic import BaseModel, ValidationError
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.errors import AlreadyFired
from db.queries import schedules
from db.schema.schedule import Schedule, ScheduleFire
from db.values import JsonObject
from service.api.audit.log import record
from service.api.jobs.schemas import JobBody
from service.api.keys.caller import Caller
from service.api.schedules.planning import Planning
from service.api.schedules.schemas import (
    DueList,
    DueOut,
    FireOut,
    FirePage,
    Kind,
    ScheduleBody,
    ScheduleList,
    ScheduleOut,
    StaleBody,
)
from service.api.shapes.schemas import ShapeSetBody
from service.errors import BadRequest, Conflict, FieldError, NotFound
from service.settings import Settings

if TYPE_CHECKING:
    from service.api.schedules.work import Work

_SHOWN_FIRES = 10
_BODIES: dict[str, type[BaseModel]] = {"job": JobBody, "shapes": ShapeSetBody, "stale": StaleBody}


def check(body: ScheduleBody, planning: Planning, now: datetime) -> datetime:
    """Check a schedule and that its work may be started; return its first due time, in UTC; may probe devices.

    Raises:
        BadRequest: rule `cron`, `timezone`, `hours`, `misfire-grace` or `schedule-work`; or as its work raises.
    """
    due_at = _first_due(body, planning.settings, now)
    _check_work(body, planning)
    return due_at


def _first_due(body: ScheduleBody, settings: Settings, now: datetime) -> datetime:
    """Return the first due time of a schedule, in UTC.

    Raises:
        BadRequest: rule `cron`, `timezone`, `hours` or `misfire-grace`.
    """
    if not 1 <= body.misfire_grace_s <= settings.max_misfire_grace_s:
        message = f"expected 1 to {settings.max_misfire_grace_s} seconds, got {body.misfire_grace_s}"
        fault = FieldError(field="misfire_grace_s", message=message)
        raise BadRequest(f"misfire_grace_s: {message}", rule="misfire-grace", errors=[fault])
    return _due_after(body.cron, body.timezone, body.hours, now)


def _check_work(body: ScheduleBody, planning: Planning) -> None:
    """Check that the work of a schedule may be started.

    Raises:
        BadRequest: rule `schedule-work`: not exactly one kind of work; or as that kind raises.
    """
    # Imported here: lists need nothing of devices and searches.
    from service.api.schedules.work import read_work

    kind, template = _work_of(body)
    try:
        read_work(kind, template, planning)
    except BadRequest as error:
        faults = [fault.model_copy(update={"field": f"{kind}.{fault.field}"}) for fault in error.errors or ()]
        raise BadRequest(error.detail, rule=error.rule, errors=faults) from error


def _work_of(body: ScheduleBody) -> tuple[Kind, JsonObject]:
    said: dict[Kind, BaseModel | None] = {"job": body.job, "shapes": body.shapes, "stale": body.stale}
    given: list[tuple[Kind, BaseModel]] = [(kind, work) for kind, work in said.items() if work is not None]
    if len(given) != 1:
        names = " and ".join(kind for kind, _ in given)
        message = f"expected exactly one of job, shapes and stale, got {names or 'none'}"
        raise BadRequest(message, rule="schedule-work", errors=[FieldError(field="job", message=message)])
    ((kind, work),) = given
    return kind, work.model_dump(mode="json")


def create(session: Session, body: ScheduleBody, due_at: datetime, by: Caller) -> ScheduleOut:
    """Add a schedule validated by `check`, with its event in the audit log.

    Raises:
        Conflict: the name is in use.
    """
    if schedules.by_name(session, body.name) is not None:
        raise _taken(body.name)
    kind, template = _work_of(body)
    try:
        schedule = schedules.create(
            session,
            name=body.name,
            cron=body.cron,
            timezone=body.timezone,
            hours=body.hours,
            kind=kind,
            template=template,
            misfire_grace_s=body.misfire_grace_s,
            missed=body.missed.policy,
            missed_most=body.missed.most,
            next_due_at=due_at,
        )
    except IntegrityError as error:  # another request took the name since
        raise _taken(body.name) from error
    record(session, by, "schedule.create", schedule.id)
    return describe(session, schedule)


def replace(session: Session, schedule_id: UUID, body: ScheduleBody, due_at: datetime, by: Caller) -> ScheduleOut:
    """Replace a schedule by one validated by `check`, with its event in the audit log; its history and paused state are
    kept.

    Raises:
        NotFound: there is none.
        Conflict: the name is in use.
    """
    schedule = _existing(session, schedule_id)
    if (other := schedules.by_name(session, body.name)) is not None and other.id != schedule_id:
        raise _taken(body.name)
    schedule.kind, schedule.template = _work_of(body)
    schedule.name, schedule.cron, schedule.timezone = body.name, body.cron, body.timezone
    schedule.hours, schedule.misfire_grace_s = body.hours, body.misfire_grace_s
    schedule.missed, schedule.missed_most = body.missed.policy, body.missed.most
    schedule.next_due_at = due_at if schedule.enabled else None
    try:
        session.flush()
    except IntegrityError as error:  # another request took the name since
        raise _taken(body.name) from error
    record(session, by, "schedule.replace", schedule_id)
    return describe(session, schedule)


def list_schedules(session: Session) -> ScheduleList:
    """Return all schedules, by name."""
    return ScheduleList(schedules=[describe(session, row) for row in schedules.list_all(session)])


def read_schedule(session: Session, schedule_id: UUID) -> ScheduleOut:
    """Return one schedule.

    Raises:
        NotFound: there is none.
    """
    return describe(session, _existing(session, schedule_id))


def delete(session: Session, schedule_id: UUID, by: Caller) -> None:
    """Delete a schedule, with its event in the audit log; the jobs it started are kept.

    Raises:
        NotFound: there is none.
    """
    schedules.delete(session, _existing(session, schedule_id))
    record(session, by, "schedule.delete", schedule_id)


def pause(session: Session, schedule_id: UUID, by: Caller) -> ScheduleOut:
    """Pause a schedule, with its event in the audit log; one that is paused is not changed.

    Raises:
        NotFound: there is none.
    """
    schedule = _existing(session, schedule_id)
    schedule.enabled, schedule.next_due_at = False, None
    session.flush()
    record(session, by, "schedule.pause", schedule_id)
    return describe(session, schedule)


def resume(session: Session, schedule_id: UUID, now: datetime, by: Caller) -> ScheduleOut:
    """Resume a schedule from the next due time on, with its event in the audit log; due times in the pause are dropped.

    Raises:
        NotFound: there is none.
    """
    schedule = _existing(session, schedule_id)
    if not schedule.enabled:
        schedule.enabled, schedule.next_due_at = True, _due_after(schedule.cron, schedule.timezone, schedule.hours, now)
        session.flush()
    record(session, by, "schedule.resume", schedule_id)
    return describe(session, schedule)


def next_times(session: Session, schedule_id: UUID, count: int) -> DueList:
    """Return the next due times of a schedule.

    Raises:
        NotFound: there is none.
        BadRequest: its expression or time zone can no longer be read.
    """
    from service.api.schedules.cron import next_due, parse_cron

    schedule = _existing(session, schedule_id)
    cron = parse_cron(schedule.cron, schedule.timezone, schedule.hours)
    due: list[DueOut] = []
    at = schedule.next_due_at
    while at is not None and len(due) < count:
        due.append(DueOut(due_at=at, local=f"{at.astimezone(cron.zone):%Y-%m-%d %H:%M:%S %z}"))
        at = next_due(cron, at)
    return DueList(due=due)


def history(session: Session, schedule_id: UUID, before: int | None, limit: int) -> FirePage:
    """Return the runs of a schedule below the number `before`, newest first.

    Raises:
        NotFound: there is none.
    """
    rows = schedules.list_fires(session, _existing(session, schedule_id).id, limit=limit + 1, before=before)
    page = rows[:limit]
    return FirePage(fires=[describe_fire(row) for row in page], next_before=page[-1].id if len(rows) > limit else None)


def work_now(planning: Planning, schedule_id: UUID, by: Caller) -> "Work":
    """Return the work of a schedule for a run now, and queue the binaries that it rebuilds; opens transactions of its
    own, and may probe devices.

    Raises:
        NotFound: there is no such schedule.
        ServiceError, CodegenError, HalError, TunerError: the work is refused.
    """
    # Imported here: lists need nothing of devices and searches.
    from service.api.schedules.stale import rebuild_stale_binaries
    from service.api.schedules.work import read_work

    with planning.database.read() as session:
        row = _existing(session, schedule_id)
        kind, template = row.kind, row.template
    work = read_work(kind, template, planning)
    rebuild_stale_binaries(kind, template, planning, by)
    return work


def run_now(session: Session, schedule_id: UUID, work: "Work", by: Caller, max_active: int, now: datetime) -> FireOut:
    """Start the work of a schedule, even while it is paused, with its event in the audit log; its due times are not
    changed.

    Raises:
        NotFound: there is none.
        Conflict: rule `already-fired`; it came due at the same time.
        TooMany: the limit of active jobs is reached.
    """
    # Imported here: lists of schedules fire nothing.
    from service.api.schedules.fires import fire_now

    try:
        fire_id = fire_now(session, _existing(session, schedule_id), work, by, max_active, now)
    except AlreadyFired as error:
        raise Conflict("it runs in this very moment; ask again", rule="already-fired") from error
    record(session, by, "schedule.run", schedule_id)
    return describe_fire(schedules.get_fire(session, fire_id))


def find(session: Session, text: str) -> UUID:
    """Return the id of the schedule with that name or id.

    Raises:
        NotFound: there is none.
    """
    for schedule in schedules.list_all(session):
        if text in (schedule.name, str(schedule.id)):
            return schedule.id
    raise NotFound(f"no schedule {text!r}; `xetune schedules` lists those that exist")


def describe(session: Session, schedule: Schedule) -> ScheduleOut:
    """Convert a schedule to its response model, with its last runs."""
    fires = schedules.list_fires(session, schedule.id, limit=_SHOWN_FIRES)
    return ScheduleOut.model_validate(
        {
            "id": schedule.id,
            "name": schedule.name,
            "cron": schedule.cron,
            "timezone": schedule.timezone,
            "hours": schedule.hours,
            "kind": schedule.kind,
            schedule.kind: _template(schedule.kind, schedule.template),
            "misfire_grace_s": schedule.misfire_grace_s,
            "missed": {"policy": schedule.missed, "most": schedule.missed_most},
            "enabled": schedule.enabled,
            "next_due_at": schedule.next_due_at,
            "created_at": schedule.created_at,
            "fires": [describe_fire(fire) for fire in fires],
        }
    )


def describe_fire(fire: ScheduleFire) -> FireOut:
    """Convert a run to its response model."""
    return FireOut.model_validate(
        {
            "id": fire.id,
            "due_at": fire.due_at,
            "fired_at": fire.fired_at,
            "outcome": fire.outcome,
            "by_hand": fire.by_hand,
            "due_times": fire.due_times,
            "jobs": [started.job_id for started in fire.jobs],
            "shape_set": fire.set_id,
            "reason": fire.reason,
        }
    )


def _template(kind: str, template: JsonObject) -> BaseModel | JsonObject:
    try:
        return _BODIES[kind].model_validate(template)
    except ValidationError:  # of another version of this program: shown as it is stored, refused when it fires
        return template


def _due_after(cron: str, timezone: str, hours: str | None, now: datetime) -> datetime:
    # Imported here: lists of schedules compute no next time.
    from service.api.schedules.cron import next_due, parse_cron

    due_at = next_due(parse_cron(cron, timezone, hours), now)
    if due_at is None:
        within = "" if hours is None else f" within {hours}"
        fault = FieldError(field="cron", message=f"never comes due{within}")
        raise BadRequest(f"{cron!r} never comes due{within}; name a time that exists", rule="cron", errors=[fault])
    return due_at


def _taken(name: str) -> Conflict:
    return Conflict(f"a schedule named {name!r} exists; choose another name or delete it", rule="unique-name")


def _existing(session: Session, schedule_id: UUID) -> Schedule:
    schedule = schedules.get(session, schedule_id)
    if schedule is None:
        raise NotFound(f"schedule {schedule_id} does not exist; `xetune schedules` lists those that do")
    return schedule
