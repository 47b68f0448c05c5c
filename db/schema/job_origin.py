"""Which request a job belongs to."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import Base


class JobOrigin(Base):
    """The X-Request-Id of the request that queued a job."""

    __tablename__ = "job_origin"
    __table_args__ = (CheckConstraint("length(request_id) BETWEEN 1 AND 64", name="request_id_length"),)

    job_id: Mapped[UUID] = mapped_column(ForeignKey("job.id"), primary_key=True)
    request_id: Mapped[str]
