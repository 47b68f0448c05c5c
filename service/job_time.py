"""The times that stand for a job: one rule for its pages, sets of shapes and the terminal.

The re-measured, interleaved times of default and best stand for a job. Without that the times of their
trials do: a single measurement each, or what the model predicts.
"""

from dataclasses import dataclass
from enum import StrEnum

from service.schemas import TimeEvidence


class Basis(StrEnum):
    """How the times that stand for a job came about; its text is what people read."""

    IN_TURNS = "interleaved"
    SINGLE = "single measurement"
    PREDICTED = "predicted"

    @property
    def of_two(self) -> str:
        """It of two times beside each other."""
        return "single measurements" if self is Basis.SINGLE else self.value

    @property
    def word(self) -> str:
        """It as the wire says it: in_turns, single, predicted."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Headline:
    """Times in us that stand for a job; `default_us` is None where trial 0 has none of the same evidence."""

    best_us: float
    default_us: float | None
    basis: Basis

    @property
    def gain(self) -> float | None:
        """How many times as fast the best is as the default."""
        return None if self.default_us is None else self.default_us / self.best_us


def headline(
    best_us: float, default_us: float | None, *, predicted: bool, in_turns: tuple[float | None, float | None]
) -> Headline:
    """The times of the best trial and of trial 0, unless both were measured `in_turns` (default, best), in us."""
    default_again_us, best_again_us = in_turns
    if default_again_us is not None and best_again_us is not None:
        return Headline(best_again_us, default_again_us, Basis.IN_TURNS)
    return Headline(best_us, default_us, Basis.PREDICTED if predicted else Basis.SINGLE)


def headline_of(
    best: TimeEvidence, default: TimeEvidence | None, *, in_turns: tuple[float | None, float | None]
) -> Headline:
    """The same of the evidence of the best trial and of trial 0, which counts if its evidence is the same."""
    alike = default is not None and (default.kind, default.label) == (best.kind, best.label)
    default_us = default.value if default is not None and alike else None
    return headline(best.value, default_us, predicted=best.kind == "predicted", in_turns=in_turns)
