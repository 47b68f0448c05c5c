"""Times at which devices are not to be worked on."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import (
    Base,
    new_id,
    utc_now,
)


class MaintenanceWindow(Base):
    """A time in which no job runs on the device of slug `device`, or on any where that is None.

    It comes again by a cron expression in a time zone and lasts `duration_s`, or is once: `starts_at` to `ends_at`.
    """

    __tablename__ = "maintenance_window"
    __table_args__ = (
        UniqueConstraint("name"),
        CheckConstraint("length(name) > 0", name="name_not_empty"),
        CheckConstraint("length(device) > 0", name="device_not_empty"),
        CheckConstraint(
            "(cron IS NULL) = (timezone IS NULL) AND (cron IS NULL) = (duration_s IS NULL)", name="recurs_whole"
        ),
        CheckConstraint("(starts_at IS NULL) = (ends_at IS NULL)", name="once_whole"),
        CheckConstraint("(cron IS NULL) <> (starts_at IS NULL)", name="recurs_or_once"),
        CheckConstraint("duration_s >= 1", name="duration_positive"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    name: Mapped[str]
    device: Mapped[str | None]
    cron: Mapped[str | None]
    timezone: Mapped[str | None]
    duration_s: Mapped[int | None]
    starts_at: Mapped[datetime | None]
    ends_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
