"""Reports of a session: events while it runs, and its result."""

from dataclasses import dataclass, fields
from enum import StrEnum

from codegen import KernelConfig
from tuner.session.trial import (
    Status,
    Trial,
)


class Stop(StrEnum):
    """Reason for the end of a session."""

    TRIALS = "trials"  # the budget of trials is spent
    SECONDS = "seconds"
    EXHAUSTED = "exhausted"  # every configuration was tried
    NO_GAIN = "no_gain"  # the last trials gained nothing
    ROOFLINE = "roofline"  # the requested fraction of the roofline is reached
    CANCELLED = "cancelled"
    PAUSED = "paused"  # its portion is spent, the budget is not


@dataclass(frozen=True, slots=True)
class TrialBegun:
    """A trial begins."""

    number: int
    config: KernelConfig


@dataclass(frozen=True, slots=True)
class TrialEnded:
    """A trial has ended, and its outcome is stored."""

    trial: Trial


@dataclass(frozen=True, slots=True)
class Comparison:
    """Default and best in microseconds, re-measured interleaved; with `remeasured` False, the trials' own times.

    `windows` is the number of windows used; `drifted` counts the measured windows in which the default's time changed.
    """

    default_us: float
    best_us: float
    remeasured: bool
    windows: int = 0
    drifted: int = 0

    @property
    def speedup(self) -> float:
        """Speedup of the best over the default."""
        return self.default_us / self.best_us


@dataclass(frozen=True, slots=True)
class WallTime:
    """Seconds of wall time: of a run, or of its part since the last report; reported before the end of a trial is
    stored, and at the end of the run.

    `propose_s`, `wait_s` (for kernels), `verify_s`, `measure_s` and `compare_s` (finalists) are sequential;
    with the time for storing results they add up to `total_s`. `compile_s` is the time with at least one
    compilation running, concurrent to these, so that all parts together may exceed the total. Verification of
    predicted trials overlaps too.
    """

    total_s: float
    propose_s: float
    compile_s: float
    wait_s: float
    verify_s: float
    measure_s: float
    compare_s: float

    def since(self, earlier: "WallTime") -> "WallTime":
        """Return the difference to an earlier time of the same run."""
        return WallTime(*(getattr(self, f.name) - getattr(earlier, f.name) for f in fields(self)))


NOTHING = WallTime(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""Wall time of a run at its begin."""

Event = TrialBegun | TrialEnded | Comparison | WallTime


@dataclass(frozen=True, slots=True)
class SessionResult:
    """Result of a session. `best` has the least time; it is None only if the run was cancelled or paused
    before any time.

    `comparison` is None when the default has no time, or the session paused. `trials` counts those with an
    outcome, by status. Size and version of the space are None if the run ended before the space was needed.
    """

    stop: Stop
    best: Trial | None
    baseline: Trial | None
    comparison: Comparison | None
    trials: dict[Status, int]
    space_size: int | None
    space_version: str | None
    wall: WallTime
