"""What came from another database, and what a job was asked to measure."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import (
    Base,
    JsonObject,
    utc_now,
)


class JobImport(Base):
    """A job that ran elsewhere: `origin` names where. Its trials are what was found there, under its own id."""

    __tablename__ = "job_import"
    __table_args__ = (CheckConstraint("length(origin) > 0", name="origin_not_empty"),)

    job_id: Mapped[UUID] = mapped_column(ForeignKey("job.id"), primary_key=True)
    origin: Mapped[str]
    imported_at: Mapped[datetime] = mapped_column(default=utc_now)


class KernelImport(Base):
    """A kernel that was compiled elsewhere and never here."""

    __tablename__ = "kernel_import"
    __table_args__ = (CheckConstraint("length(origin) > 0", name="origin_not_empty"),)

    kernel_id: Mapped[UUID] = mapped_column(ForeignKey("kernel.id"), primary_key=True)
    origin: Mapped[str]


class Candidate(Base):
    """A configuration that a job was given to measure, in order of `position`. A job without any searches."""

    __tablename__ = "candidate"
    __table_args__ = (
        UniqueConstraint("job_id", "position"),
        UniqueConstraint("job_id", "config_hash"),
        CheckConstraint("position >= 0", name="position_counted"),
        CheckConstraint("length(config_hash) = 64", name="config_hash_is_sha256"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[UUID] = mapped_column(ForeignKey("job.id"))
    position: Mapped[int]
    config: Mapped[JsonObject]
    config_hash: Mapped[str]
