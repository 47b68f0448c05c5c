"""Keys of measurements: equal ones measured the same."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column, relationship

from db.schema.base import Base
from db.schema.trial import Measurement
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

    measurement: Mapped[Measurement] = relationship(lazy="raise")
