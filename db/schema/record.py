"""Results of other tuners: configurations of kernels that this program does not make."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import LONGEST_US, Base
from db.values import JsonObject, new_id, utc_now


class Record(Base):
    """A configuration that a tuner found for a problem of its kernel, on a device under a driver.

    `problem_hash` hashes tuner, kernel and problem; `device` is the id of a device of the table, else a PCI id or a
    name, and `pci_id` and `named` are as stated. `driver` is empty if not stated. `versions` are of the programs that
    the result depends on. `document` is the tuner's own entry, if more than the configuration is needed to restore it.
    Times in microseconds; None for a tuner that keeps none. `content_hash` hashes everything stated.
    """

    __tablename__ = "record"
    __table_args__ = (
        Index(None, "problem_hash", "device", "id"),
        Index(None, "tuner", "id"),
        Index(None, "device", "id"),
        CheckConstraint("length(tuner) > 0", name="tuner_not_empty"),
        CheckConstraint("length(kernel) > 0", name="kernel_not_empty"),
        CheckConstraint("length(device) > 0", name="device_not_empty"),
        CheckConstraint("length(origin) > 0", name="origin_not_empty"),
        CheckConstraint("length(problem_hash) = 64", name="problem_hash_is_sha256"),
        CheckConstraint("length(config_hash) = 64", name="config_hash_is_sha256"),
        CheckConstraint("length(content_hash) = 64", name="content_hash_is_sha256"),
        CheckConstraint(f"time_us > 0 AND time_us < {LONGEST_US}", name="time_positive"),
        CheckConstraint("min_us > 0 AND min_us <= p10_us AND p10_us <= p90_us", name="times_ordered"),
        CheckConstraint("samples >= 1", name="samples_positive"),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=new_id)
    tuner: Mapped[str]
    kernel: Mapped[str]
    problem: Mapped[JsonObject]
    problem_hash: Mapped[str]
    device: Mapped[str]
    pci_id: Mapped[str | None]
    named: Mapped[str | None]
    driver: Mapped[str] = mapped_column(default="")
    versions: Mapped[JsonObject]
    config: Mapped[JsonObject]
    config_hash: Mapped[str]
    document: Mapped[JsonObject | None]
    time_us: Mapped[float | None]
    min_us: Mapped[float | None]
    p10_us: Mapped[float | None]
    p90_us: Mapped[float | None]
    samples: Mapped[int | None]
    origin: Mapped[str | None]
    content_hash: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(default=utc_now)
