"""Devices that get no jobs for a time."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import Base
from db.values import utc_now


class DeviceQuarantine(Base):
    """A device of a host that failed repeatedly: until `until` it gets no jobs there. `reason` is "code: message"."""

    __tablename__ = "device_quarantine"
    __table_args__ = (
        UniqueConstraint("host", "slug"),
        CheckConstraint("length(host) > 0", name="host_not_empty"),
        CheckConstraint("length(slug) > 0", name="slug_not_empty"),
        CheckConstraint("length(reason) > 0", name="reason_not_empty"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    host: Mapped[str]
    slug: Mapped[str]
    reason: Mapped[str]
    job_id: Mapped[UUID | None] = mapped_column(ForeignKey("job.id"))
    since: Mapped[datetime] = mapped_column(default=utc_now)
    until: Mapped[datetime]
