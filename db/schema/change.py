"""What tells programs that keep answers in memory that these are old. Triggers of the database write it.

Each transaction that changes what an answer may depend on gives the device, or the keys, a next stamp, and the problem
on that device the same. Stamps of one subject follow each other in the order of commits.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Index
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import Base

KEYS = "keys"


class Change(Base):
    """How often something changed: `keys`, or `device ID`. `writer` is PostgreSQL's transaction that did it last."""

    __tablename__ = "change"

    subject: Mapped[str] = mapped_column(primary_key=True)
    stamp: Mapped[int] = mapped_column(BigInteger)
    writer: Mapped[str | None]


class ResultChange(Base):
    """The device's stamp when results of a problem on it changed last. It outlives what it tells of."""

    __tablename__ = "result_change"
    __table_args__ = (Index(None, "device_id", "stamp"),)

    problem_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    device_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    stamp: Mapped[int] = mapped_column(BigInteger)
