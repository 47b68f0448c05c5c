"""Trials that reuse the measurement of an earlier one."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column, relationship

from db.schema.base import LONGEST_US, Base
from db.schema.trial import Trial


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
