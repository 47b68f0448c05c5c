"""The steps of a heuristic, as it explains them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HeuristicStep:
    """One step: what it decides, the choice, and the reason."""

    name: str
    choice: str
    why: str
