"""Counters of events that have no rows."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import BigInteger, CheckConstraint
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import Base


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
