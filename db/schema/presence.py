"""Heartbeats of processes."""

from datetime import datetime

from sqlalchemy import CheckConstraint
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import Base, one_of
from db.values import utc_now

ROLES = ("worker", "scheduler")


class Presence(Base):
    """A process in a role, and the time of its last heartbeat. A `name` is never used by another process.

    A process that exits normally deletes its row; the row of a killed one stays and becomes stale.
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
