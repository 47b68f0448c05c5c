"""Coordinators and the devices they reach."""

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from db.schema.base import Base
from db.schema.target import Device
from db.values import utc_now


class Coordinator(Base):
    """Lease of the coordinator that gives out work under a name: one holder at a time, until `expires_at`.

    `fence` grows with each holder. Writes of a holder are refused once the row has another fence.
    """

    __tablename__ = "coordinator"
    __table_args__ = (
        # In PostgreSQL a FOR KEY SHARE reader blocks a new holder, but lets the present one renew its lease.
        UniqueConstraint("name", "fence"),
        CheckConstraint("length(name) > 0", name="name_not_empty"),
        CheckConstraint("length(holder) > 0", name="holder_not_empty"),
        CheckConstraint("fence >= 1", name="fence_counted"),
    )

    name: Mapped[str] = mapped_column(primary_key=True)
    holder: Mapped[str]
    fence: Mapped[int] = mapped_column(BigInteger)
    since: Mapped[datetime] = mapped_column(default=utc_now)
    expires_at: Mapped[datetime]


class ReachedDevice(Base):
    """A device that a coordinator reached at its last check, and its host."""

    __tablename__ = "reached_device"
    __table_args__ = (
        UniqueConstraint("coordinator", "executor", "device_id"),
        CheckConstraint("length(executor) > 0", name="executor_not_empty"),
        CheckConstraint("length(host) > 0", name="host_not_empty"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    coordinator: Mapped[str] = mapped_column(ForeignKey("coordinator.name", ondelete="CASCADE"))
    executor: Mapped[str]
    host: Mapped[str]
    device_id: Mapped[int] = mapped_column(ForeignKey("device.id"))
    seen_at: Mapped[datetime] = mapped_column(default=utc_now)

    device: Mapped[Device] = relationship(lazy="raise")
