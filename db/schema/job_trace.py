"""Which trace a job belongs to."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import Base


class JobTrace(Base):
    """The span that queued a job, as the header traceparent has it. Source: W3C Trace Context, section 3.2."""

    __tablename__ = "job_trace"
    __table_args__ = (CheckConstraint("length(traceparent) = 55", name="traceparent_length"),)

    job_id: Mapped[UUID] = mapped_column(ForeignKey("job.id"), primary_key=True)
    traceparent: Mapped[str]
