"""Schedules that start jobs, and each time one came due."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from db.base import Base, JsonObject, new_id, one_of, utc_now
from db.models.job import Job

FIRE_OUTCOMES = ("created", "joined", "missed", "refused")


class Schedule(Base):
    """A cron expression in a time zone, and the `template` of the job it starts (problem, device, budget).

    A fire more than `misfire_grace_s` late is missed. `next_due_at` is None while the schedule is disabled.
    """

    __tablename__ = "schedule"
    __table_args__ = (
        UniqueConstraint("name"),
        Index(None, "next_due_at"),
        CheckConstraint("length(name) > 0", name="name_not_empty"),
        CheckConstraint("length(cron) > 0", name="cron_not_empty"),
        CheckConstraint("length(timezone) > 0", name="timezone_not_empty"),
        CheckConstraint("misfire_grace_s >= 1", name="misfire_grace_positive"),
        CheckConstraint("enabled OR next_due_at IS NULL", name="next_due_only_enabled"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    name: Mapped[str]
    cron: Mapped[str]
    timezone: Mapped[str]
    template: Mapped[JsonObject]
    enabled: Mapped[bool] = mapped_column(default=True)
    misfire_grace_s: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    next_due_at: Mapped[datetime | None]

    fires: Mapped[list[ScheduleFire]] = relationship(
        back_populates="schedule", lazy="raise", order_by="ScheduleFire.due_at", passive_deletes=True
    )


class ScheduleFire(Base):
    """One due time of a schedule, handled once.

    It created a job, joined an identical active one, was missed, or the job was refused (`reason` says why).
    """

    __tablename__ = "schedule_fire"
    __table_args__ = (
        UniqueConstraint("schedule_id", "due_at"),
        CheckConstraint(one_of("outcome", FIRE_OUTCOMES), name="outcome_known"),
        CheckConstraint("(outcome IN ('created', 'joined')) = (job_id IS NOT NULL)", name="job_iff_created_or_joined"),
        CheckConstraint("(outcome = 'refused') = (reason IS NOT NULL)", name="reason_iff_refused"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    schedule_id: Mapped[UUID] = mapped_column(ForeignKey("schedule.id", ondelete="CASCADE"))
    due_at: Mapped[datetime]
    fired_at: Mapped[datetime] = mapped_column(default=utc_now)
    outcome: Mapped[str]
    job_id: Mapped[UUID | None] = mapped_column(ForeignKey("job.id"), index=True)
    reason: Mapped[str | None]

    schedule: Mapped[Schedule] = relationship(back_populates="fires", lazy="raise")
    job: Mapped[Job | None] = relationship(lazy="raise")
