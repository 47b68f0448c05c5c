"""Jobs that were asked for again."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import Base


class JobRetry(Base):
    """A job that does anew what another one, which failed or was cancelled, was asked to."""

    __tablename__ = "job_retry"
    __table_args__ = (CheckConstraint("job_id <> of_job_id", name="of_another"),)

    job_id: Mapped[UUID] = mapped_column(ForeignKey("job.id"), primary_key=True)
    of_job_id: Mapped[UUID] = mapped_column(ForeignKey("job.id"), index=True)
