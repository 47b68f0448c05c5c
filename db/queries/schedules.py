"""Queries on schedules and their runs."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, selectinload

from db.errors import AlreadyFired
from db.queries.insert import insert_missing
from db.schema.job import ACTIVE_STATUSES, Job
from db.schema.schedule import Schedule, ScheduleFire, ScheduleFireJob
from db.schema.shape_set import ShapeSet
from db.values import JsonObject


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
    hours: str | None = None,
    kind: str = "job",
    missed: str = "skip",
    missed_most: int = 1,
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
        hours=hours,
        kind=kind,
        missed=missed,
        missed_most=missed_most,
    )
    session.add(schedule)
    session.flush()
    return schedule


def get(session: Session, schedule_id: UUID) -> Schedule | None:
    """Return one schedule."""
    return session.get(Schedule, schedule_id)


def by_name(session: Session, name: str) -> Schedule | None:
    """Return the schedule of that name."""
    return session.scalars(select(Schedule).where(Schedule.name == name)).first()


def list_all(session: Session) -> list[Schedule]:
    """Return all schedules by name."""
    return list(session.scalars(select(Schedule).order_by(Schedule.name)))


def due(session: Session, now: datetime) -> list[Schedule]:
    """Return enabled schedules whose due time has passed, the longest overdue first."""
    query = select(Schedule).where(Schedule.enabled, Schedule.next_due_at <= now)
    return list(session.scalars(query.order_by(Schedule.next_due_at)))


def delete(session: Session, schedule: Schedule) -> None:
    """Delete a schedule and its runs; the jobs it started stay."""
    session.delete(schedule)
    session.flush()


def add_fire(
    session: Session,
    schedule_id: UUID,
    due_at: datetime,
    *,
    outcome: str,
    jobs: Sequence[tuple[UUID, bool]] = (),
    set_id: UUID | None = None,
    reason: str | None = None,
    due_times: int = 1,
    by_hand: bool = False,
) -> int:
    """Record the outcome of one or several due times and return the id of the record; see ScheduleFire.

    `jobs` are those that were queued or found active, each with whether it is new.

    Raises:
        AlreadyFired: it was handled before; let the exception undo the transaction, and a job made in it.
    """
    values = {
        "schedule_id": schedule_id,
        "due_at": due_at,
        "outcome": outcome,
        "set_id": set_id,
        "reason": reason,
        "due_times": due_times,
        "by_hand": by_hand,
    }
    if not insert_missing(session, ScheduleFire, values):
        raise AlreadyFired(f"schedule {schedule_id} was fired for {due_at.isoformat()} before")
    made = select(ScheduleFire.id).where(ScheduleFire.schedule_id == schedule_id, ScheduleFire.due_at == due_at)
    fire_id = session.scalars(made).one()
    for position, (job_id, is_new) in enumerate(jobs):
        session.add(ScheduleFireJob(fire_id=fire_id, position=position, job_id=job_id, is_new=is_new))
    session.flush()
    return fire_id


def get_fire(session: Session, fire_id: int) -> ScheduleFire:
    """Return a run with its jobs."""
    return session.scalars(_fires().where(ScheduleFire.id == fire_id)).one()


def list_fires(session: Session, schedule_id: UUID, *, limit: int, before: int | None = None) -> list[ScheduleFire]:
    """Return the latest runs of a schedule with their jobs, newest first, with ids below `before`."""
    query = _fires().where(ScheduleFire.schedule_id == schedule_id)
    if before is not None:
        query = query.where(ScheduleFire.id < before)
    return list(session.scalars(query.order_by(ScheduleFire.id.desc()).limit(limit)))


def is_busy(session: Session, schedule_id: UUID) -> bool:
    """Return whether any job or set that a schedule started is still queued, running or active."""
    jobs = select(ScheduleFireJob.job_id).join(ScheduleFire, ScheduleFire.id == ScheduleFireJob.fire_id)
    jobs = jobs.join(Job, Job.id == ScheduleFireJob.job_id)
    jobs = jobs.where(ScheduleFire.schedule_id == schedule_id, Job.status.in_(ACTIVE_STATUSES))
    sets = select(ShapeSet.id).join(ScheduleFire, ScheduleFire.set_id == ShapeSet.id)
    sets = sets.where(ScheduleFire.schedule_id == schedule_id, ShapeSet.status == "active")
    return session.scalar(jobs.limit(1)) is not None or session.scalar(sets.limit(1)) is not None


def _fires() -> Select[ScheduleFire]:
    return select(ScheduleFire).options(selectinload(ScheduleFire.jobs))
