"""What is counted and has no rows of its own."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import BigInteger, CheckConstraint
from sqlalchemy.orm import Mapped, mapped_column

from db.schema.base import Base


class Tallied(StrEnum):
    """What a tally counts."""

    COMPILE_CACHE_HITS = "compile_cache_hits"
    COMPILE_CACHE_MISSES = "compile_cache_misses"


class Tally(Base):
    """How often something happened in any process, ever; no row: never."""

    __tablename__ = "tally"
    __table_args__ = (CheckConstraint("number >= 0", name="not_negative"),)

    name: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger)
