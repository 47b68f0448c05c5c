"""Final comparison: the default and the best few, measured interleaved, since the least time may be luck."""

from collections.abc import Callable, Sequence

from codegen import AnyArtifact, KernelConfig
from tuner.measure.interleaved_timing import (
    TimeUs,
    measure_interleaved,
)
from tuner.measure.isa_check import Compilation
from tuner.measure.measure import (
    Bench,
    Limits,
    median_us,
)
from tuner.session.result import Comparison
from tuner.session.trial import Trial

FINALISTS = 3
"""Number of trials that are compared with the default."""

NEAR = 1.15
"""Largest ratio of a finalist's time to the least time: times of one configuration vary by less between trials."""

KernelOf = Callable[[KernelConfig], AnyArtifact | Compilation]


def compare_finalists(
    bench: Bench, baseline: Trial, finalists: Sequence[Trial], kernel_of: KernelOf, left_s: float
) -> tuple[Trial, Comparison] | None:
    """Return the winner and its time compared with the default's; None when one of them has no time.

    `finalists` are the fastest trials, best first. The trials' own times are used if there is no device, if
    the default is the only finalist, or if `left_s` seconds are too few to measure interleaved. A trial whose
    kernel is compiled again, to another binary, has no time.
    """
    best, default_us = finalists[0], _time_us(baseline)
    best_us = _time_us(best)
    if default_us is None or best_us is None:
        return None
    as_tried = best, Comparison(default_us, best_us, remeasured=False)
    others = [trial for trial in finalists if trial.number != baseline.number]
    if bench.device is None or not others:
        return as_tried

    def timed(trial: Trial) -> TimeUs:
        kernel_hash = None if trial.outcome is None else trial.outcome.kernel_hash
        return lambda seconds: median_us(bench, kernel_of(trial.config), Limits(seconds, seconds), kernel_hash)

    turns = measure_interleaved(timed(baseline), [timed(trial) for trial in others], left_s)
    if turns is None:
        return as_tried
    ratio, _, winner = min(
        [(1.0, -1, baseline)]
        + [
            (r, place, trial)
            for place, (r, trial) in enumerate(zip(turns.ratios, others, strict=True))
            if r is not None
        ]
    )
    reference_us = turns.reference_us
    return winner, Comparison(reference_us, ratio * reference_us, True, turns.windows, turns.drifted)


def _time_us(trial: Trial) -> float | None:
    return trial.outcome.time_us if trial.outcome is not None else None
