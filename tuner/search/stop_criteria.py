"""Stop criteria of a job: no further gain, or a time near the roofline."""

from tuner.session.history import History
from tuner.session.trial import Trial

LEAST_GAIN = 1.01
"""Least speedup that counts as a gain: medians of one configuration vary by as much."""


def gains_no_more(history: History, trials: int) -> bool:
    """Return whether the last `trials` trials measured by this job gained nothing over an earlier time.

    Trials with a reused time do not count: a time is reused only where it cannot win.
    """
    ended = [trial for trial, _ in history.ended() if trial.source is None]
    before = _best_us(ended[:-trials])
    now = _best_us(ended)
    return before is not None and now is not None and now * LEAST_GAIN > before


def _best_us(trials: list[Trial]) -> float | None:
    times = [time_us for trial in trials if (time_us := trial.time_us) is not None]
    return min(times) if times else None
