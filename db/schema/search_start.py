"""What the searches of jobs were made from, so that they can be made again."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import (
    Base,
    JsonObject,
)


class SearchStart(Base):
    """The search of one run of a job, which was told `told` outcomes before it proposed.

    `given` are donors, facts of the device, versions and what else its proposals follow from. Jobs of before have none.
    """

    __tablename__ = "search_start"
    __table_args__ = (CheckConstraint("told >= 0", name="told_counted"),)

    job_id: Mapped[UUID] = mapped_column(ForeignKey("job.id"), primary_key=True)
    told: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    given: Mapped[JsonObject]
