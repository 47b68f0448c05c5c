"""Shape sets: shapes that share a budget, their jobs, and the kernels that serve them together."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from db.schema.base import LONGEST_US, Base, one_of
from db.schema.job import Job
from db.schema.target import Device
from db.values import JsonObject, new_id, utc_now

SHAPE_SET_STATUSES = ("active", "succeeded", "cancelled")
CELL_EVIDENCE = ("interleaved", "trial", "predicted", "none")
_ACTIVE = text("status = 'active'")


class ShapeSet(Base):
    """A set of shapes that is tuned under one budget of trials and seconds.

    `source` is what the shapes were read from. `spent_s` is the wall time of all its runs. `within` is the
    allowed loss of a shape from its best under the few kernels that serve all: 0.05 is 5 %. `compiled` and
    `reused` count compilations and cache hits. `holder` runs the set until `lease_until`; None before the
    first run. `error` is why it ended without a result.
    """

    __tablename__ = "shape_set"
    __table_args__ = (
        Index("uq_shape_set_active_request", "request_hash", unique=True, sqlite_where=_ACTIVE),
        CheckConstraint(one_of("status", SHAPE_SET_STATUSES), name="status_known"),
        CheckConstraint("(status = 'active') = (finished_at IS NULL)", name="finished_iff_over"),
        CheckConstraint("length(source) > 0", name="source_not_empty"),
        CheckConstraint("length(request_hash) = 64", name="request_hash_is_sha256"),
        CheckConstraint("budget_trials >= 1", name="budget_trials_positive"),
        CheckConstraint("budget_seconds > 0 AND budget_seconds < 1e9", name="budget_seconds_positive"),
        CheckConstraint("within >= 0 AND within <= 1", name="within_is_a_fraction"),
        CheckConstraint("spent_s >= 0 AND compiled >= 0 AND reused >= 0", name="counts_not_negative"),
        CheckConstraint("(holder IS NULL) = (lease_until IS NULL)", name="lease_iff_held"),
        CheckConstraint("length(holder) > 0", name="holder_not_empty"),
        CheckConstraint("length(error) > 0", name="error_not_empty"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    source: Mapped[str]
    device_id: Mapped[int] = mapped_column(ForeignKey("device.id"))
    status: Mapped[str] = mapped_column(default="active")
    budget_trials: Mapped[int]
    budget_seconds: Mapped[float]
    within: Mapped[float]
    request_hash: Mapped[str]
    spent_s: Mapped[float] = mapped_column(default=0.0)
    compiled: Mapped[int] = mapped_column(default=0)
    reused: Mapped[int] = mapped_column(default=0)
    holder: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    error: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
    finished_at: Mapped[datetime | None]

    device: Mapped[Device] = relationship(lazy="raise")
    members: Mapped[list["ShapeSetMember"]] = relationship(lazy="raise", order_by="ShapeSetMember.position")
    kernels: Mapped[list["ShapeSetKernel"]] = relationship(lazy="raise", order_by="ShapeSetKernel.position")


class ShapeSetMember(Base):
    """A shape of a set, and the job that tunes it. `weight` is how often the shape occurs."""

    __tablename__ = "shape_set_member"
    __table_args__ = (
        UniqueConstraint("set_id", "position"),
        UniqueConstraint("job_id"),
        CheckConstraint("position >= 0", name="position_counted"),
        CheckConstraint("weight > 0", name="weight_positive"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    set_id: Mapped[UUID] = mapped_column(ForeignKey("shape_set.id"))
    position: Mapped[int]
    job_id: Mapped[UUID] = mapped_column(ForeignKey("job.id"))
    weight: Mapped[float]
    name: Mapped[str]

    job: Mapped[Job] = relationship(lazy="raise")


class ShapeSetKernel(Base):
    """A configuration that was tried on all shapes of a set: `config` is that of the shape at `member_id`."""

    __tablename__ = "shape_set_kernel"
    __table_args__ = (
        UniqueConstraint("set_id", "position"),
        CheckConstraint("position >= 0", name="position_counted"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    set_id: Mapped[UUID] = mapped_column(ForeignKey("shape_set.id"))
    position: Mapped[int]
    member_id: Mapped[int] = mapped_column(ForeignKey("shape_set_member.id"))
    config: Mapped[JsonObject]

    cells: Mapped[list["ShapeSetCell"]] = relationship(lazy="raise")


class ShapeSetCell(Base):
    """Time of a kernel of a set on one of its shapes, in microseconds; `reason` explains a missing one.

    `evidence`: measured interleaved with the others, by its own trial, predicted, or none. `content_hash` names
    the binary if there is one.
    """

    __tablename__ = "shape_set_cell"
    __table_args__ = (
        CheckConstraint(one_of("evidence", CELL_EVIDENCE), name="evidence_known"),
        CheckConstraint("(evidence = 'none') = (time_us IS NULL)", name="time_iff_known"),
        CheckConstraint("(evidence = 'none') = (reason IS NOT NULL)", name="reason_iff_without_time"),
        CheckConstraint(f"time_us > 0 AND time_us < {LONGEST_US}", name="time_positive"),
        CheckConstraint("length(content_hash) = 64", name="content_hash_is_sha256"),
    )

    kernel_id: Mapped[int] = mapped_column(ForeignKey("shape_set_kernel.id"), primary_key=True)
    member_id: Mapped[int] = mapped_column(ForeignKey("shape_set_member.id"), primary_key=True)
    time_us: Mapped[float | None]
    evidence: Mapped[str]
    reason: Mapped[str | None]
    content_hash: Mapped[str | None]
