"""Fires what is due: each due time of a schedule is one row, made in the transaction that queues its job.

Several processes may do this at once: the row is unique, so the second one's transaction undoes itself.
"""

from datetime import datetime, timedelta
from uuid import UUID

import structlog
from sqlalchemy.orm import Session

from codegen import CodegenError
from db import schedules
from db.errors import AlreadyFired
from db.models import Schedule
from service.deps import Context
from service.errors import ServiceError, TooMany
from service.jobs.requests import JobRequest, submit, understand
from service.jobs.schemas import JobBody
from service.schedules.cron import latest_due, next_due, parse_cron

_log = structlog.stdlib.get_logger(__name__)


def fire_due(context: Context) -> int:
    """Handle every schedule that is due now, one transaction each; says how many were handled."""
    now = context.now()
    with context.database.read() as session:
        due = [(row.id, JobBody.model_validate(row.template)) for row in schedules.due(session, now)]
    return sum(_fire(context, schedule_id, body, now) for schedule_id, body in due)


def _fire(context: Context, schedule_id: UUID, body: JobBody, now: datetime) -> bool:
    asked: JobRequest | str
    try:
        asked = understand(body, context.devices, context.settings)  # may probe: before the transaction
    except (ServiceError, CodegenError) as error:
        asked = str(error)
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


def _still_due(session: Session, schedule_id: UUID, now: datetime) -> Schedule | None:
    schedule = schedules.get(session, schedule_id)
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
    schedules.add_fire(session, schedule.id, due_at, outcome="created" if is_new else "joined", job_id=job.id)
    _log.info("schedule fired", schedule=schedule.name, due_at=due_at.isoformat(), job=str(job.id))


def _advance(schedule: Schedule, now: datetime) -> None:
    schedule.next_due_at = next_due(parse_cron(schedule.cron, schedule.timezone), now)
