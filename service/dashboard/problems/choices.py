"""The configurations that a problem's page holds against each other: default, the model's, the best."""

from collections.abc import Iterator
from dataclasses import dataclass

from service.dashboard.evidence import TimeEvidence, TimeFigure
from service.dashboard.problems.samples import Pair, Sample


@dataclass(frozen=True, slots=True)
class Choice:
    """A configuration and one time of it; `against_best` is that over the tuned one's with the same evidence."""

    name: str
    sample: Sample
    time_us: float
    low_us: float
    high_us: float
    evidence: TimeEvidence
    against_best: float | None

    def figure(self, pair: Pair) -> TimeFigure:
        """The time as pages write it."""
        source = pair.slug if self.evidence is not TimeEvidence.PREDICTED else self.sample.model or "a model"
        rate = pair.flops / self.time_us / 1e3
        return TimeFigure(self.time_us, self.low_us, self.high_us, self.evidence, source, rate)


def choices_of(pair: Pair) -> list[Choice]:
    """Each with its measured time where it was measured, and with its predicted one where it was predicted."""
    measured = pair.measured
    best = next((s for s in measured if s.best_of_job), measured[0] if measured else None)
    foreseen = sorted((s for s in pair.samples if s.foreseen is not None), key=lambda s: s.foreseen or (0, 0, 0))
    chosen = next((s for s in foreseen if s.evidence is not TimeEvidence.PREDICTED), None) if measured else None
    chosen = chosen or (foreseen[0] if foreseen else None)
    # The newest job's: times of others may be of another driver.
    default = next(
        (s for s in pair.samples if s.number == 0 and (not measured or s.evidence is measured[0].evidence)), None
    )
    least = min((s.foreseen[0] for s in foreseen if s.foreseen is not None), default=None)
    named = (("default", default), ("model's choice", chosen), ("tuned", best))
    return [c for name, s in named if s is not None for c in _times(name, s, best, least)]


def _times(name: str, sample: Sample, best: Sample | None, least: float | None) -> Iterator[Choice]:
    if sample.evidence is not TimeEvidence.PREDICTED:
        over = None if best is None or best.evidence is not sample.evidence else sample.time_us / best.time_us
        yield Choice(name, sample, sample.time_us, sample.low_us, sample.high_us, sample.evidence, over)
    if sample.foreseen is not None:
        time_us, low, high = sample.foreseen
        yield Choice(
            name, sample, time_us, low, high, TimeEvidence.PREDICTED, None if least is None else time_us / least
        )
