"""Formats of other tuners' files."""

from enum import StrEnum


class RecordFormat(StrEnum):
    """Tuners, and programs with tuned files, whose files are read."""

    T4 = "t4"
    TRITON = "triton"
    VLLM = "vllm"
    SGLANG = "sglang"
