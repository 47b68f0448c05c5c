"""Queries on schedules and their fires."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from db.base import JsonObject
from db.errors import AlreadyFired
from db.insert import insert_missing
from db.models import Schedule, ScheduleFire


def create(
    session: Session,
    *,
    name: str,
    cron: str,
    timezone: str,
    template: JsonObject,
    misfire_grace_s: int,
    next_due_at: datetime | None,
    enabled: bool = True,
) -> Schedule:
    """Add a schedule.

    Raises:
        sqlalchemy.exc.IntegrityError: the name is taken.
    """
    schedule = Schedule(
        name=name,
        cron=cron,
        timezone=timezone,
        template=template,
        misfire_grace_s=misfire_grace_s,
        next_due_at=next_due_at,
        enabled=enabled,
    )
    session.add(schedule)
    session.flush()
    return schedule


def get(session: Session, schedule_id: UUID) -> Schedule | None:
    """One schedule."""
    return session.get(Schedule, schedule_id)


def by_name(session: Session, name: str) -> Schedule | None:
    """The schedule of that name."""
    return session.scalars(select(Schedule).where(Schedule.name == name)).first()


def list_all(session: Session) -> list[Schedule]:
    """All schedules by name."""
    return list(session.scalars(select(Schedule).order_by(Schedule.name)))


def due(session: Session, now: datetime) -> list[Schedule]:
    """Enabled schedules whose next run has come, the longest overdue first."""
    query = select(Schedule).where(Schedule.enabled, Schedule.next_due_at <= now)
    return list(session.scalars(query.order_by(Schedule.next_due_at)))


def delete(session: Session, schedule: Schedule) -> None:
    """Remove a schedule and the record of its fires; the jobs it started stay."""
    session.delete(schedule)
    session.flush()


def add_fire(
    session: Session,
    schedule_id: UUID,
    due_at: datetime,
    *,
    outcome: str,
    job_id: UUID | None = None,
    reason: str | None = None,
) -> None:
    """Record that a due time was handled: created or joined a job (`job_id`), missed, or refused (`reason`).

    Raises:
        AlreadyFired: it was before; let the exception undo the transaction, and a job made in it.
    """
    values = {"schedule_id": schedule_id, "due_at": due_at, "outcome": outcome, "job_id": job_id, "reason": reason}
    if not insert_missing(session, ScheduleFire, values):
        raise AlreadyFired(f"schedule {schedule_id} was fired for {due_at.isoformat()} before")


def list_fires(session: Session, schedule_id: UUID, *, limit: int) -> list[ScheduleFire]:
    """The latest fires of a schedule with their jobs, newest first."""
    query = select(ScheduleFire).where(ScheduleFire.schedule_id == schedule_id).options(joinedload(ScheduleFire.job))
    return list(session.scalars(query.order_by(ScheduleFire.due_at.desc()).limit(limit)))


def fire_of_job(session: Session, job_id: UUID) -> ScheduleFire | None:
    """The fire that created that job, with its schedule; None for a job that a person started."""
    query = select(ScheduleFire).where(ScheduleFire.job_id == job_id, ScheduleFire.outcome == "created")
    return session.scalars(query.options(joinedload(ScheduleFire.schedule))).first()
