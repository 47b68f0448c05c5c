"""Change stamps that invalidate caches in memory; written by triggers of the database; counters of events.

Each transaction that changes the inputs of an answer increases the stamp of the device (or of the keys) and
of the problem on that device. Stamps of one subject increase in the order of commits.
"""

from enum import StrEnum

from sqlalchemy import BigInteger, CheckConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import Base

KEYS = "keys"


class Change(Base):
    """Change counter of a subject: `keys`, or `device ID`. `writer` is the last PostgreSQL transaction to change it."""

    __tablename__ = "change"

    subject: Mapped[str] = mapped_column(primary_key=True)
    stamp: Mapped[int] = mapped_column(BigInteger)
    writer: Mapped[str | None]


class ResultChange(Base):
    """Stamp of a device at the last change of a problem's results on it. It outlives those results."""

    __tablename__ = "result_change"
    __table_args__ = (Index(None, "device_id", "stamp"),)

    problem_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    device_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    stamp: Mapped[int] = mapped_column(BigInteger)


class Tallied(StrEnum):
    """Events that are counted."""

    COMPILE_CACHE_HITS = "compile_cache_hits"
    COMPILE_CACHE_MISSES = "compile_cache_misses"


class Tally(Base):
    """Number of times an event happened in any process; without a row: never."""

    __tablename__ = "tally"
    __table_args__ = (CheckConstraint("number >= 0", name="not_negative"),)

    name: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger)
