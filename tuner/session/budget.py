"""Budget of a job, and its remainder in one of its runs."""

import time
from dataclasses import dataclass

from tuner.session.bounds import Positive, Seconds
from tuner.session.history import History

GRACE_S = 2.0
"""Seconds by which a candidate may overrun the job's time limit."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Budget of one run of a job before it pauses: trials, and seconds after which no further trial begins."""

    trials: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Budget:
    """Trials and seconds of wall time of a job, over all its runs, and its stop criteria.

    The job stops when the last `no_gain` trials gained nothing, or when the best time reaches the fraction
    `roofline` of the roofline.

    Raises:
        ValueError: an empty budget.
    """

    trials: Positive
    seconds: Seconds
    no_gain: Positive | None = None
    roofline: float | None = None

    def __post_init__(self) -> None:
        if self.trials < 1 or not self.seconds > 0:
            raise ValueError(f"expected at least 1 trial and more than 0 seconds, got {self.trials} and {self.seconds}")
        if self.no_gain is not None and self.no_gain < 1:
            raise ValueError(f"expected to stop after at least 1 trial without a gain, got {self.no_gain}")
        if self.roofline is not None and not 0 < self.roofline <= 1:
            raise ValueError(f"expected a fraction of the roofline of more than 0 and at most 1, got {self.roofline}")


class Allowance:
    """Remainder of a budget, and of a portion of it, in a run that began at `begun_s` of the monotonic clock."""

    def __init__(self, budget: Budget, portion: Portion | None, history: History, begun_s: float) -> None:
        self._budget, self._portion, self._history, self._begun_s = budget, portion, history, begun_s
        self._earlier = self._worked_on()

    @property
    def are_trials_spent(self) -> bool:
        """True if the job's number of trials is used up."""
        return len(self._history) >= self._budget.trials

    @property
    def is_portion_spent(self) -> bool:
        """True if the run should pause; never before one of its trials ended."""
        portion, done = self._portion, self._worked_on() - self._earlier
        return portion is not None and done > 0 and (done >= portion.trials or self.spent_s >= portion.seconds)

    @property
    def left_trials(self) -> int:
        """Number of trials that may still begin in this run."""
        left = self._budget.trials - len(self._history)
        return left if self._portion is None else min(left, self._portion.trials - self._worked_on() + self._earlier)

    @property
    def spent_s(self) -> float:
        """Duration of this run in seconds."""
        return time.monotonic() - self._begun_s

    @property
    def left_s(self) -> float:
        """Seconds left for all runs together; negative if overspent."""
        return self._budget.seconds - self._history.earlier_s - self.spent_s

    @property
    def until_s(self) -> float:
        """Latest end of the job, on the monotonic clock."""
        return time.monotonic() + self.left_s + GRACE_S

    def _worked_on(self) -> int:
        """Number of trials that ended, plus the present one."""
        return len(self._history) - len(self._history.unfinished)
