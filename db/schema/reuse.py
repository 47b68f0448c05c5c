"""Result reuse: the keys under which times hold, and trials that took the time of an earlier one."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column, relationship

from db.schema.base import (
    Base,
    JsonObject,
)
from db.schema.trial import (
    LONGEST_US,
    Trial,
)


class ResultKey(Base):
    """What a measurement depends on: `parts`, readable, and `key`, their hash. `run` is the hash of all but versions.

    A measurement without one is of a program that kept none, or of a device whose facts cannot be read.
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
    """A trial that was not measured: its measurement is that of `source_trial_id`, of an earlier job.

    `scale` is how long the default took in this trial's job over how long it took in the source's.
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
