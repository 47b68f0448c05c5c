"""When a job has found enough: it no longer gains, or it is near what the device can do."""

from tuner.session.history import History
from tuner.session.trial import Trial

LEAST_GAIN = 1.01
"""A best time that is not shorter by this factor is no gain: medians of one configuration differ as much."""


def gains_no_more(history: History, trials: int) -> bool:
    """Whether the last so many trials, of those that this job made, have not gained: one with a time came before them.

    One that took the time of an earlier job could not gain: it is taken where it cannot win.
    """
    ended = [trial for trial, _ in history.ended() if trial.source is None]
    before = _best_us(ended[:-trials])
    now = _best_us(ended)
    return before is not None and now is not None and now * LEAST_GAIN > before


def _best_us(trials: list[Trial]) -> float | None:
    times = [time_us for trial in trials if (time_us := trial.time_us) is not None]
    return min(times) if times else None
