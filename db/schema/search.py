"""How a job searches, and when it has found enough."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import (
    Base,
    one_of,
)

SEARCH_METHODS = ("portfolio", "tpe", "cmaes", "nsga2", "gp", "model", "random", "exhaustive")
OBJECTIVES = ("time", "time-memory", "time-energy")


class JobSearch(Base):
    """What a job was asked for beside its budget; jobs of before, and those that search nothing, have none.

    It ends when the last `no_gain` trials gained nothing, or when the fastest reaches `roofline` of what the device can
    do. Without an `objective` it weighs what its method does anyway.
    """

    __tablename__ = "job_search"
    __table_args__ = (
        CheckConstraint(one_of("method", SEARCH_METHODS), name="method_known"),
        CheckConstraint(one_of("objective", OBJECTIVES), name="objective_known"),
        CheckConstraint("no_gain >= 1", name="no_gain_positive"),
        CheckConstraint("roofline > 0 AND roofline <= 1", name="roofline_is_fraction"),
    )

    job_id: Mapped[UUID] = mapped_column(ForeignKey("job.id"), primary_key=True)
    method: Mapped[str]
    no_gain: Mapped[int | None]
    roofline: Mapped[float | None]
    objective: Mapped[str | None]
