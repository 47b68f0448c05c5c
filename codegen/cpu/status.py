"""Return values of a kernel's public functions."""

from enum import IntEnum


class Status(IntEnum):
    """Status of a call: 0, or why nothing was computed."""

    DONE = 0
    TOO_FEW_THREADS = 1
    NO_AMX = 2
    OVERLAP = 3


MEANINGS = {
    Status.TOO_FEW_THREADS: "the pool has fewer threads than the kernel computes with",
    Status.NO_AMX: "Linux does not permit AMX",
    Status.OVERLAP: "a buffer that is written overlaps another one",
}
"""Message of each status."""
