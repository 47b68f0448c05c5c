"""Why jobs ended."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import (
    Base,
    one_of,
)

STOPS = ("trials", "seconds", "exhausted", "no_gain", "roofline", "cancelled")


class JobStop(Base):
    """What ended a job's search: one of its limits, the end of its space, or someone. Jobs of before have none."""

    __tablename__ = "job_stop"
    __table_args__ = (CheckConstraint(one_of("reason", STOPS), name="reason_known"),)

    job_id: Mapped[UUID] = mapped_column(ForeignKey("job.id"), primary_key=True)
    reason: Mapped[str]
