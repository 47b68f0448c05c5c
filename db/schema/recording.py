"""Results imported from files of other formats: times without kernels, not verified here."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from db.schema.base import LABELS, LONGEST_US, Base, one_of
from db.schema.target import (
    Device,
    Problem,
)
from db.values import JsonObject, new_id, utc_now

RECORDED_STATUSES = ("measured", "rejected", "compile_failed", "wrong_result", "timed_out", "crashed")
RECORDING_FORMATS = ("kernel-tuner", "t4")


class Recording(Base):
    """A file that was imported: a problem on a device, measured elsewhere. No kernel is served from it.

    `digest` hashes its content, so that equal results are stored once; `origin` is its source and `named` what
    the file calls its device. `label` is the label of its times. Its trials are written in portions, and no query
    returns it before it is `complete`.
    """

    __tablename__ = "recording"
    __table_args__ = (
        UniqueConstraint("digest"),
        CheckConstraint("length(digest) = 64", name="digest_is_sha256"),
        CheckConstraint("length(origin) > 0", name="origin_not_empty"),
        CheckConstraint(one_of("format", RECORDING_FORMATS), name="format_known"),
        CheckConstraint(one_of("label", LABELS), name="label_known"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    problem_id: Mapped[int] = mapped_column(ForeignKey("problem.id"), index=True)
    device_id: Mapped[int] = mapped_column(ForeignKey("device.id"), index=True)
    format: Mapped[str]
    digest: Mapped[str]
    origin: Mapped[str]
    named: Mapped[str]
    label: Mapped[str]
    imported_at: Mapped[datetime] = mapped_column(default=utc_now)
    complete: Mapped[bool] = mapped_column(default=False)

    problem: Mapped[Problem] = relationship(lazy="raise")
    device: Mapped[Device] = relationship(lazy="raise")
    tried: Mapped[list["RecordedTrial"]] = relationship(
        back_populates="recording", lazy="raise", order_by="RecordedTrial.number"
    )


class RecordedTrial(Base):
    """One configuration of a recording. Times in microseconds, sample statistics as in the file. Wall times in s."""

    __tablename__ = "recorded_trial"
    __table_args__ = (
        UniqueConstraint("recording_id", "number"),
        UniqueConstraint("recording_id", "config_hash"),
        CheckConstraint("number >= 0", name="number_counted"),
        CheckConstraint("length(config_hash) = 64", name="config_hash_is_sha256"),
        CheckConstraint(one_of("status", RECORDED_STATUSES), name="status_known"),
        CheckConstraint("(status = 'measured') = (time_us IS NOT NULL)", name="time_iff_measured"),
        CheckConstraint("(status = 'measured') = (reason IS NULL)", name="reason_iff_without_time"),
        CheckConstraint("length(reason) > 0", name="reason_not_empty"),
        CheckConstraint(f"time_us > 0 AND time_us < {LONGEST_US}", name="time_positive"),
        CheckConstraint("min_us > 0 AND min_us <= p10_us AND p10_us <= p90_us", name="times_ordered"),
        CheckConstraint("samples >= 1", name="samples_positive"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    recording_id: Mapped[UUID] = mapped_column(ForeignKey("recording.id"))
    number: Mapped[int]
    config: Mapped[JsonObject]
    config_hash: Mapped[str]
    status: Mapped[str]
    reason: Mapped[str | None]
    time_us: Mapped[float | None]
    min_us: Mapped[float | None]
    p10_us: Mapped[float | None]
    p90_us: Mapped[float | None]
    samples: Mapped[int | None]
    compile_s: Mapped[float | None]
    verify_s: Mapped[float | None]
    measure_s: Mapped[float | None]
    tried_at: Mapped[datetime | None]

    recording: Mapped[Recording] = relationship(back_populates="tried", lazy="raise")
