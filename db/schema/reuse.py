"""Result reuse: keys of measurements, and trials that reuse the measurement of an earlier one."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column, relationship

from db.schema.base import Base
from db.schema.trial import (
    LONGEST_US,
    Trial,
)
from db.values import JsonObject


class ResultKey(Base):
    """Key of a measurement: `parts` are its inputs, readable, `key` their hash, `run` the hash of all but versions.

    Missing for devices whose facts cannot be read.
    """

    __tablename__ = "result_key"
    __table_args__ = (
        CheckConstraint("length(key) = 64", name="key_is_sha256"),
        CheckConstraint("length(run) = 64", name="run_is_sha256"),
    )

    trial_id: Mapped[int] = mapped_column(ForeignKey("measurement.trial_id"), primary_key=True)
    key: Mapped[str] = mapped_column(index=True)
    run: Mapped[str] = mapped_column(index=True)
    parts: Mapped[JsonObject]


class Reuse(Base):
    """A trial that was not measured: its measurement is that of `source_trial_id`, from an earlier job.

    `scale` is the default's time in this trial's job over its time in the source's.
    """

    __tablename__ = "reuse"
    __table_args__ = (
        CheckConstraint("trial_id <> source_trial_id", name="source_is_another"),
        CheckConstraint(f"scale > 0 AND scale < {LONGEST_US}", name="scale_positive"),
    )

    trial_id: Mapped[int] = mapped_column(ForeignKey("trial.id"), primary_key=True)
    source_trial_id: Mapped[int] = mapped_column(ForeignKey("trial.id"), index=True)
    scale: Mapped[float]

    source: Mapped[Trial] = relationship(foreign_keys=[source_trial_id], lazy="raise")
