"""Results of a job as its pages, the terminal and sets of shapes report them: times, energy and stop reason.

The re-measured, interleaved times of default and best are reported. Without those, the times of their trials
are: a single measurement each, or predictions.
"""

from dataclasses import dataclass
from enum import StrEnum

from service.schemas import AcceptanceEvidence, TimeEvidence
from tuner.model.resolution import RESOLUTION

WIDE_SPREAD = 0.2
"""Part of the median: times of a kernel that spread by more are worth measuring again."""
_UNITS = ((1e6, "J"), (1e3, "mJ"), (1.0, "µJ"))


def energy_text(energy_uj: float) -> str:
    """Format microjoules with a unit: 5120 as "5.12 mJ". Energies of launches include idle power."""
    size, unit = next(((size, unit) for size, unit in _UNITS if energy_uj >= size), _UNITS[-1])
    return f"{energy_uj / size:.3g} {unit}"


def acceptance_words(by: AcceptanceEvidence | None) -> str | None:
    """Return an acceptance in words; None if there was none."""
    return None if by is None else f"accepted by the driver {by.driver}, which simulated {by.chip}"


_STOP_REASONS = {
    "trials": "all trials of the budget are done",
    "seconds": "the time budget is spent",
    "exhausted": "every configuration was tried",
    "no_gain": "the last trials brought no improvement",
    "roofline": "the requested fraction of the roofline is reached",
    "cancelled": "cancelled by a user",
}


def stop_words(reason: str) -> str:
    """Describe the stop reason of a search."""
    return _STOP_REASONS.get(reason, reason)


class ChoiceRule(StrEnum):
    """Rule that selected the best of predicted trials that the model does not tell apart."""

    DEFAULT = "default"
    BURDEN = "burden"


@dataclass(frozen=True, slots=True)
class Choice:
    """Selection of trial `best` of `trials` whose predicted times the model does not tell apart.

    `gain` is the time of the best over the least, that of trial `fastest`.
    """

    best: int
    fastest: int
    gain: float
    trials: int

    @property
    def rule(self) -> ChoiceRule:
        """The rule: the default wins a tie, else the least burden."""
        return ChoiceRule.DEFAULT if self.best == 0 else ChoiceRule.BURDEN

    @property
    def sentence(self) -> str:
        """The rule in words."""
        within = f"{RESOLUTION - 1:.0%}"
        if self.rule is ChoiceRule.BURDEN:
            return f"by occupancy, prefetch and messages, of {self.trials} trials within {within}, {_NOT_TOLD_APART}"
        if self.fastest == 0:
            return f"the default has the least time of {self.trials} trials within {within}, {_NOT_TOLD_APART}"
        return (
            f"the default is kept: trial {self.fastest} gains {self.gain - 1:.1%} by prediction, "
            f"within the resolution of the model, {within}"
        )


_NOT_TOLD_APART = "which the model does not tell apart"


class Basis(StrEnum):
    """Basis of the reported times of a job; the value is its label."""

    INTERLEAVED = "interleaved"
    SINGLE = "single measurement"
    PREDICTED = "predicted"

    @property
    def of_two(self) -> str:
        """Label for two times."""
        return "single measurements" if self is Basis.SINGLE else self.value

    @property
    def word(self) -> str:
        """Value in the API: interleaved, single, predicted."""
        return self.name.lower()


def known_by(time: TimeEvidence) -> str:
    """Describe how a time is known: "measured, interleaved", "measured, single measurement" or "predicted"."""
    basis = Basis[time.basis.upper()]
    return basis.value if basis is Basis.PREDICTED else f"{time.kind}, {basis.value}"


@dataclass(frozen=True, slots=True)
class ReportedTimes:
    """Reported times of a job, in us; `default_us` is None if trial 0 has no time with the same evidence."""

    best_us: float
    default_us: float | None
    basis: Basis

    @property
    def gain(self) -> float | None:
        """Speedup of the best over the default."""
        return None if self.default_us is None else self.default_us / self.best_us


def reported_times(
    best_us: float, default_us: float | None, *, predicted: bool, interleaved: tuple[float | None, float | None]
) -> ReportedTimes:
    """Return the times of the best trial and of trial 0, unless both were re-measured `interleaved` (default,
    best), in us.
    """
    default_again_us, best_again_us = interleaved
    if default_again_us is not None and best_again_us is not None:
        return ReportedTimes(best_again_us, default_again_us, Basis.INTERLEAVED)
    return ReportedTimes(best_us, default_us, Basis.PREDICTED if predicted else Basis.SINGLE)


def reported_times_of(
    best: TimeEvidence, default: TimeEvidence | None, *, interleaved: tuple[float | None, float | None]
) -> ReportedTimes:
    """Return the same from the evidence of the best trial and of trial 0, which is used if its evidence is
    the same.
    """
    alike = default is not None and (default.kind, default.label) == (best.kind, best.label)
    default_us = default.value if default is not None and alike else None
    return reported_times(best.value, default_us, predicted=best.kind == "predicted", interleaved=interleaved)
