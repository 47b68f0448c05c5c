"""Which processes are there: workers, and those that fire schedules."""

from datetime import datetime

from sqlalchemy import CheckConstraint
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import (
    Base,
    one_of,
    utc_now,
)

ROLES = ("worker", "scheduler")


class Presence(Base):
    """A process in a role, and when it last said that it is there. No other process ever has its `name`.

    One that ends in order takes its row along; that of one that was killed stays and grows old.
    """

    __tablename__ = "presence"
    __table_args__ = (
        CheckConstraint(one_of("role", ROLES), name="role_known"),
        CheckConstraint("length(name) > 0", name="name_not_empty"),
        CheckConstraint("length(host) > 0", name="host_not_empty"),
    )

    role: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    host: Mapped[str]
    version: Mapped[str]
    started_at: Mapped[datetime] = mapped_column(default=utc_now)
    seen_at: Mapped[datetime] = mapped_column(default=utc_now)
