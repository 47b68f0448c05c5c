"""Configurations compared on the page of a problem: default, the model's choice, the best."""

from collections.abc import Iterator
from dataclasses import dataclass

from db.queries.results.headline import order_us
from service.dashboard.evidence import TimeEvidence, TimeFigure
from service.dashboard.problems.samples import Pair, Sample
from service.job_summary import (
    Basis,
    ReportedTimes,
    reported_times,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """A configuration and one time of it.

    `over_tuned` is that over the tuned one's with the same evidence, by `over_basis`.
    """

    name: str
    sample: Sample
    time_us: float
    low_us: float
    high_us: float
    evidence: TimeEvidence
    basis: Basis
    over_tuned: float | None
    over_basis: Basis

    def figure(self, pair: Pair) -> TimeFigure:
        """Return the time for pages."""
        source = pair.slug if self.evidence is not TimeEvidence.PREDICTED else self.sample.model or "a model"
        rate = pair.flops / self.time_us / 1e3
        spread = None if self.evidence is TimeEvidence.PREDICTED else self.sample.spread
        return TimeFigure(self.time_us, self.low_us, self.high_us, self.evidence, source, rate, self.basis, spread)


@dataclass(frozen=True, slots=True)
class _Tuned:
    """The best of a job with that job's default, and the times that stand for it."""

    best: Sample
    default: Sample | None
    line: ReportedTimes


def choices_of(pair: Pair) -> list[Choice]:
    """Each with its measured time where it was measured, and with its predicted one where it was predicted."""
    measured = pair.measured
    tuned = _tuned(pair, measured) if measured else None
    foreseen = sorted((s for s in pair.samples if s.foreseen is not None), key=lambda s: s.foreseen or (0, 0, 0))
    chosen = next((s for s in foreseen if s.evidence is not TimeEvidence.PREDICTED), None) if measured else None
    chosen = chosen or (foreseen[0] if foreseen else None)
    # The newest job's: times of others may be of another driver.
    default = next((s for s in pair.samples if s.number == 0), None) if tuned is None else tuned.default
    least = min((s.foreseen[0] for s in foreseen if s.foreseen is not None), default=None)
    named = (("default", default), ("model's choice", chosen), ("tuned", None if tuned is None else tuned.best))
    return [c for name, s in named if s is not None for c in _times(name, s, tuned, least)]


def _tuned(pair: Pair, measured: list[Sample]) -> _Tuned:
    """The job that stands for the problem: the one of the least headline time."""
    defaults = {s.job_id: s for s in measured if s.number == 0}
    again = {str(job.id): (job.compared_default_us, job.compared_best_us) for job in pair.jobs}
    found: list[_Tuned] = []
    for best in [s for s in measured if s.best_of_job] or measured[:1]:
        default = defaults.get(best.job_id)
        single_us = None if default is None else default.time_us
        line = reported_times(best.time_us, single_us, predicted=False, interleaved=again[best.job_id])
        found.append(_Tuned(best, default, line))
    return min(found, key=lambda of: order_us(of.line.best_us, interleaved=of.line.basis is Basis.INTERLEAVED))


def _times(name: str, sample: Sample, tuned: _Tuned | None, least: float | None) -> Iterator[Choice]:
    if sample.evidence is not TimeEvidence.PREDICTED and tuned is not None:
        yield _measured(name, sample, tuned)
    if sample.foreseen is not None:
        over = None if least is None else sample.foreseen[0] / least
        yield Choice(name, sample, *sample.foreseen, TimeEvidence.PREDICTED, Basis.PREDICTED, over, Basis.PREDICTED)


def _measured(name: str, sample: Sample, tuned: _Tuned) -> Choice:
    line = tuned.line
    stands = {"default": line.default_us, "tuned": line.best_us}.get(name)
    if line.basis is Basis.INTERLEAVED and stands is not None:
        over = stands / line.best_us
        return Choice(name, sample, stands, stands, stands, sample.evidence, line.basis, over, line.basis)
    over = sample.time_us / tuned.best.time_us if sample.evidence is tuned.best.evidence else None
    times = sample.time_us, sample.low_us, sample.high_us
    return Choice(name, sample, *times, sample.evidence, Basis.SINGLE, over, Basis.SINGLE)
