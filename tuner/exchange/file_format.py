"""Formats of result files."""

from enum import StrEnum


class Format(StrEnum):
    """A format of result files."""

    JSONL = "jsonl"
    KERNEL_TUNER = "kernel-tuner"
    T1 = "t1"
    T4 = "t4"

    @property
    def media_type(self) -> str:
        """Media type of such a file."""
        return "application/x-ndjson" if self is Format.JSONL else "application/json"
