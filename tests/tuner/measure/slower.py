"""Trials whose known times a later job reuses."""

from collections.abc import Sequence

from tuner.measure.finalists import NEAR
from tuner.session.trial import Trial


def slower_than_finalists(trials: Sequence[Trial]) -> list[int]:
    """Return the numbers of the trials that were too slow for a finalist beside those before them; at least one."""
    numbers, best_us = list[int](), float("inf")
    for trial in trials:
        assert trial.outcome is not None
        assert trial.outcome.measurement is not None
        if trial.outcome.measurement.min_us > NEAR * best_us:
            numbers.append(trial.number)
        best_us = min(best_us, trial.outcome.measurement.median_us)
    assert numbers
    return numbers
