"""Conditions for a lookup to queue a job."""

from enum import StrEnum


class Tune(StrEnum):
    """Condition for a lookup to queue a job: never, if no result of the problem is stored, or also if it is
    stale.
    """

    NEVER = "never"
    ON_MISS = "on_miss"
    ON_STALE = "on_stale"
