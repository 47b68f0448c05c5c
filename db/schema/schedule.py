"""Schedules that start work, and their runs."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

import db.schema.shape_set  # pyright: ignore[reportUnusedImport]  # noqa: F401 (the table of a foreign key)
from db.schema.base import Base, one_of
from db.schema.job import Job
from db.values import JsonObject, new_id, utc_now

FIRE_OUTCOMES = ("created", "joined", "nothing", "missed", "refused")
SCHEDULE_KINDS = ("job", "shapes", "stale")
MISSED_POLICIES = ("skip", "once", "all")


class Schedule(Base):
    """A cron expression in a time zone, and the `template` of the work it starts, of the form that `kind` names.

    `missed` is the policy for due times that were not handled in time: `skip` drops those more than
    `misfire_grace_s` ago, `once` makes up for all of them with one run, `all` gives the newest `missed_most` a
    run each, one after the other. `hours` (`20:00-06:00`, in the time zone) are those in which it may run; None:
    all. `next_due_at` is the first due time that was not handled; None while the schedule is disabled.
    """

    __tablename__ = "schedule"
    __table_args__ = (
        UniqueConstraint("name"),
        Index(None, "next_due_at"),
        CheckConstraint("length(name) > 0", name="name_not_empty"),
        CheckConstraint("length(cron) > 0", name="cron_not_empty"),
        CheckConstraint("length(timezone) > 0", name="timezone_not_empty"),
        CheckConstraint("length(hours) = 11", name="hours_are_two_times"),
        CheckConstraint(one_of("kind", SCHEDULE_KINDS), name="kind_known"),
        CheckConstraint("misfire_grace_s >= 1", name="misfire_grace_positive"),
        CheckConstraint(one_of("missed", MISSED_POLICIES), name="missed_known"),
        CheckConstraint("missed_most >= 1", name="missed_most_positive"),
        CheckConstraint("enabled OR next_due_at IS NULL", name="next_due_only_enabled"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    name: Mapped[str]
    cron: Mapped[str]
    timezone: Mapped[str]
    hours: Mapped[str | None]
    kind: Mapped[str] = mapped_column(default="job")
    template: Mapped[JsonObject]
    enabled: Mapped[bool] = mapped_column(default=True)
    misfire_grace_s: Mapped[int]
    missed: Mapped[str] = mapped_column(default="skip")
    missed_most: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    next_due_at: Mapped[datetime | None]

    fires: Mapped[list["ScheduleFire"]] = relationship(
        lazy="raise", order_by="ScheduleFire.due_at", passive_deletes=True
    )


class ScheduleFire(Base):
    """One run of a schedule, or due times that got none; `due_times` counts the due times that it covers.

    It created work, joined active work, found nothing to do, was missed, or was refused (`reason` says why;
    others may list there what was left out). `by_hand`: a person started it, and `due_at` is when.
    """

    __tablename__ = "schedule_fire"
    __table_args__ = (
        UniqueConstraint("schedule_id", "due_at"),
        CheckConstraint(one_of("outcome", FIRE_OUTCOMES), name="outcome_known"),
        CheckConstraint("outcome <> 'refused' OR reason IS NOT NULL", name="refused_says_why"),
        CheckConstraint("outcome IN ('created', 'joined') OR set_id IS NULL", name="set_only_of_work"),
        CheckConstraint("due_times >= 1", name="due_times_counted"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    schedule_id: Mapped[UUID] = mapped_column(ForeignKey("schedule.id", ondelete="CASCADE"))
    due_at: Mapped[datetime]
    fired_at: Mapped[datetime] = mapped_column(default=utc_now)
    outcome: Mapped[str]
    by_hand: Mapped[bool] = mapped_column(default=False)
    due_times: Mapped[int] = mapped_column(default=1)
    set_id: Mapped[UUID | None] = mapped_column(ForeignKey("shape_set.id"))
    reason: Mapped[str | None]

    jobs: Mapped[list["ScheduleFireJob"]] = relationship(
        lazy="raise", order_by="ScheduleFireJob.position", passive_deletes=True
    )


class ScheduleFireJob(Base):
    """A job that a run of a schedule queued, or found already active (not `is_new`)."""

    __tablename__ = "schedule_fire_job"
    __table_args__ = (
        UniqueConstraint("fire_id", "job_id"),
        CheckConstraint("position >= 0", name="position_counted"),
    )

    fire_id: Mapped[int] = mapped_column(ForeignKey("schedule_fire.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[UUID] = mapped_column(ForeignKey("job.id"), index=True)
    is_new: Mapped[bool]

    job: Mapped[Job] = relationship(lazy="raise")
