"""Fires what is due: each due time of a schedule is one row, made in the transaction that queues its job.

Several processes may do this at once: the row is unique, so the second one's transaction undoes itself.
"""

from contextlib import suppress
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from pydantic import ValidationError
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from codegen import CodegenError
from db import schedules
from db.base import JsonObject
from db.errors import AlreadyFired, DatabaseLocked
from db.models import Schedule
from hal import HalError
from service.audit.log import Outcome, record
from service.deps import Context
from service.errors import BadRequest, ServiceError, TooMany
from service.jobs.requests import JobRequest, submit, understand
from service.jobs.schemas import JobBody
from service.keys.callers import CLOCK
from service.schedules.cron import latest_due, next_due, parse_cron
from tuner.errors import TunerError

_log = structlog.stdlib.get_logger(__name__)


def fire_due(context: Context) -> int:
    """Handle every schedule that is due now, one transaction each; says how many were handled."""
    now = context.now()
    with context.database.read() as session:
        due = [(row.id, row.template) for row in schedules.due(session, now)]
    return sum(_fire_apart(context, schedule_id, template, now) for schedule_id, template in due)


def _fire_apart(context: Context, schedule_id: UUID, template: JsonObject, now: datetime) -> bool:
    """Handle one schedule; what is wrong with it must not keep the others from firing."""
    try:
        return _fire(context, schedule_id, _understand(template, context), now)
    except BadRequest as error:  # its zone or expression cannot be read any more
        return _disable(context, schedule_id, now, error.detail)
    except (IntegrityError, DatabaseLocked) as error:  # it was changed meanwhile: the next look sees how
        _log.warning("schedule waits for the next look", schedule=str(schedule_id), error=str(error))
        return False


def _understand(template: JsonObject, context: Context) -> JobRequest | str:
    """What to queue, or why nothing; may probe devices, so before the transaction."""
    try:
        return understand(JobBody.model_validate(template), context.devices, context.settings)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors(include_url=False))
        return f"the stored request cannot be read ({faults}); delete the schedule and make it anew"
    except (ServiceError, CodegenError, HalError, TunerError) as error:
        return str(error)


def _fire(context: Context, schedule_id: UUID, asked: JobRequest | str, now: datetime) -> bool:
    try:
        with context.database.write() as session:
            schedule = _still_due(session, schedule_id, now)
            if schedule is None:
                return False
            due_at, in_time = _choose(schedule, now)
            if in_time:
                _start(session, schedule, due_at, asked, context.settings.max_active_jobs)
            else:
                schedules.add_fire(session, schedule.id, due_at, outcome="missed")
                _log.warning("schedule missed", schedule=schedule.name, due_at=due_at.isoformat())
            _advance(schedule, now)
        return True
    except AlreadyFired:
        # Another process did, or the clock stepped back: only go on to the next due time.
        with context.database.write() as session:
            schedule = _still_due(session, schedule_id, now)
            if schedule is not None:
                _advance(schedule, now)
        return False


def _disable(context: Context, schedule_id: UUID, now: datetime, reason: str) -> bool:
    """Pause a schedule whose next due time cannot be told; its last fire says why."""
    with context.database.write() as session:
        schedule = _still_due(session, schedule_id, now)
        if schedule is None or schedule.next_due_at is None:
            return False
        with suppress(AlreadyFired):
            schedules.add_fire(session, schedule.id, schedule.next_due_at, outcome="refused", reason=reason)
        schedule.enabled, schedule.next_due_at = False, None
        _log.warning("schedule disabled", schedule=schedule.name, reason=reason)
    return True


def _still_due(session: Session, schedule_id: UUID, now: datetime) -> Schedule | None:
    # Locked, so that a pause at the same moment waits, or is seen.
    schedule = session.get(Schedule, schedule_id, with_for_update=True)
    due = schedule is not None and schedule.next_due_at is not None and schedule.next_due_at <= now
    return schedule if due else None


def _choose(schedule: Schedule, now: datetime) -> tuple[datetime, bool]:
    """The due time to handle, and whether it is in time: the latest one within the grace, if any."""
    first = schedule.next_due_at
    assert first is not None
    earliest = max(first, now - timedelta(seconds=schedule.misfire_grace_s))
    latest = latest_due(parse_cron(schedule.cron, schedule.timezone), earliest, now)
    return (first, False) if latest is None else (latest, True)


def _start(session: Session, schedule: Schedule, due_at: datetime, asked: JobRequest | str, max_active: int) -> None:
    """Queue the job, or record why not; `asked` is that reason when the request was refused already."""
    try:
        queued = asked if isinstance(asked, str) else submit(session, asked, max_active)
    except TooMany as error:
        queued = error.detail
    if isinstance(queued, str):
        schedules.add_fire(session, schedule.id, due_at, outcome="refused", reason=queued)
        _log.warning("schedule refused", schedule=schedule.name, due_at=due_at.isoformat(), reason=queued)
        return
    job, is_new = queued
    record(session, CLOCK, "job.create", job.id, Outcome.DONE if is_new else Outcome.UNCHANGED)
    schedules.add_fire(session, schedule.id, due_at, outcome="created" if is_new else "joined", job_id=job.id)
    _log.info("schedule fired", schedule=schedule.name, due_at=due_at.isoformat(), job=str(job.id))


def _advance(schedule: Schedule, now: datetime) -> None:
    schedule.next_due_at = next_due(parse_cron(schedule.cron, schedule.timezone), now)
    schedule.enabled = schedule.next_due_at is not None
