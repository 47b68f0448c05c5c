"""Firing of due schedules: each run of a schedule is one row, inserted in the transaction that queues its
work.

Several processes may do this at once: the row is unique, so the second transaction is rolled back.
"""

from contextlib import suppress
from datetime import datetime
from uuid import UUID

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.errors import AlreadyFired, DatabaseLocked
from db.queries import schedules
from db.schema.schedule import Schedule
from service.api.keys.caller import CLOCK
from service.api.schedules.cron import (
    next_due,
    parse_cron,
)
from service.api.schedules.fires import add_fire
from service.api.schedules.missed import (
    Handled,
    handle,
)
from service.api.schedules.stale import rebuild_stale_binaries
from service.api.schedules.work import (
    Work,
    start,
    work_or_reason,
)
from service.errors import BadRequest
from service.http.context import Context
from service.telemetry.loggers import Logger

_log = Logger(__name__)


def fire_due(context: Context) -> int:
    """Handle every schedule that is due now, one transaction each; return their number."""
    now = context.now()
    with context.database.read() as session:
        due = [(row.id, row.kind, row.template) for row in schedules.due(session, now) if not _waits(session, row, now)]
    for _, kind, template in due:
        rebuild_stale_binaries(kind, template, context, CLOCK)
    return sum(
        _fire_apart(context, row_id, work_or_reason(kind, template, context), now) for row_id, kind, template in due
    )


def realign(context: Context) -> int:
    """Bring due times forward that lie beyond the next one; return the number of schedules.

    A clock that jumped into the future and back left them there, and nothing would run until then.
    """
    now, moved = context.now(), 0
    with context.database.read() as session:
        far = [row.id for row in schedules.list_all(session) if _next_if_far(row, now) is not None]
    for schedule_id in far:
        with context.database.write() as session:
            schedule = session.get(Schedule, schedule_id, with_for_update=True)
            due_at = None if schedule is None else _next_if_far(schedule, now)
            if schedule is not None and due_at is not None:
                _log.warning("schedule is due earlier", schedule=schedule.name, due_at=due_at.isoformat())
                schedule.next_due_at = due_at
                moved += 1
    return moved


def _next_if_far(schedule: Schedule, now: datetime) -> datetime | None:
    """Return the next due time if the schedule waits for a later one."""
    if not schedule.enabled or schedule.next_due_at is None or schedule.next_due_at <= now:
        return None
    with suppress(BadRequest):  # handling it reports what cannot be read
        due_at = next_due(parse_cron(schedule.cron, schedule.timezone, schedule.hours), now)
        return due_at if due_at is not None and due_at < schedule.next_due_at else None
    return None


def _waits(session: Session, schedule: Schedule, now: datetime) -> bool:
    """Return whether it is outside its hours, or its runs come one after the other and one is not over."""
    if schedule.missed == "all" and schedules.is_busy(session, schedule.id):
        return True
    with suppress(BadRequest):  # handling it reports what cannot be read
        return not parse_cron(schedule.cron, schedule.timezone, schedule.hours).may_run(now)
    return False


def _fire_apart(context: Context, schedule_id: UUID, work: Work | str, now: datetime) -> bool:
    """Handle one schedule; its errors must not prevent others from firing."""
    try:
        return _fire(context, schedule_id, work, now)
    except BadRequest as error:  # its time zone or expression can no longer be read
        return _disable(context, schedule_id, now, error.detail)
    except (IntegrityError, DatabaseLocked) as error:  # it was changed meanwhile: retry at the next check
        _log.warning("schedule is retried at the next check", schedule=str(schedule_id), error=str(error))
        return False


def _fire(context: Context, schedule_id: UUID, work: Work | str, now: datetime) -> bool:
    try:
        with context.database.write() as session:
            schedule = _still_due(session, schedule_id, now)
            if schedule is None or _waits(session, schedule, now):
                return False
            part = handle(schedule, now)
            _record(session, schedule, part, work, context.settings.max_active_jobs)
            _advance(schedule, part.next_due_at)
        return True
    except AlreadyFired:
        # Another process did, or the clock stepped back: only advance to the next due time.
        with context.database.write() as session:
            schedule = _still_due(session, schedule_id, now)
            if schedule is not None:
                _advance(schedule, next_due(parse_cron(schedule.cron, schedule.timezone, schedule.hours), now))
        return False


def _record(session: Session, schedule: Schedule, part: Handled, work: Work | str, max_active: int) -> None:
    if part.missed_at is not None:
        schedules.add_fire(session, schedule.id, part.missed_at, outcome="missed", due_times=part.missed)
        _log.warning("schedule missed", schedule=schedule.name, due_at=part.missed_at.isoformat(), number=part.missed)
    if part.run_at is not None:
        started = start(session, work, CLOCK, max_active)
        add_fire(session, schedule, part.run_at, started, due_times=part.run_for)


def _disable(context: Context, schedule_id: UUID, now: datetime, reason: str) -> bool:
    """Pause a schedule whose next due time cannot be computed; its last fire has the reason."""
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
    # Locked, so that a concurrent pause waits, or is seen.
    schedule = session.get(Schedule, schedule_id, with_for_update=True)
    due = schedule is not None and schedule.next_due_at is not None and schedule.next_due_at <= now
    return schedule if due else None


def _advance(schedule: Schedule, due_at: datetime | None) -> None:
    schedule.next_due_at, schedule.enabled = due_at, due_at is not None
