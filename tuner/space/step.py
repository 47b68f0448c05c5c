"""Explained steps of a heuristic."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HeuristicStep:
    """One step: its subject, the choice, and the reason."""

    name: str
    choice: str
    why: str
