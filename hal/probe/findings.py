"""Findings about this machine, each with its state and remedy."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """State of a check. A fault prevents a use, a warning restricts it, and a note is for information."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: the `check` by a stable name, its `subject`, what was `found`, and the `remedy`, empty if none."""

    check: str
    subject: str
    state: State
    found: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.found}: {self.remedy}" if self.remedy else self.found
