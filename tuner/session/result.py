"""What a session reports: while it runs, and at its end."""

from dataclasses import dataclass, fields
from enum import StrEnum

from codegen import KernelConfig
from tuner.session.trial import (
    Status,
    Trial,
)


class Stop(StrEnum):
    """Why a session ended."""

    TRIALS = "trials"  # the budget of trials is spent
    SECONDS = "seconds"
    EXHAUSTED = "exhausted"  # every configuration was tried
    NO_GAIN = "no_gain"  # the last so many trials gained nothing
    ROOFLINE = "roofline"  # the asked fraction of what the device can do is reached
    CANCELLED = "cancelled"
    PAUSED = "paused"  # its portion is spent, the budget is not


@dataclass(frozen=True, slots=True)
class TrialBegun:
    """Work on a trial begins."""

    number: int
    config: KernelConfig


@dataclass(frozen=True, slots=True)
class TrialEnded:
    """A trial has its outcome, and the store has it."""

    trial: Trial


@dataclass(frozen=True, slots=True)
class Comparison:
    """Default and best in microseconds, measured in turns; `remeasured` is False for the trials' own times.

    `windows` of turns count, and in `drifted` of all that were measured the default's own time changed.
    """

    default_us: float
    best_us: float
    remeasured: bool
    windows: int = 0
    drifted: int = 0

    @property
    def speedup(self) -> float:
        """How many times faster the best is than the default."""
        return self.default_us / self.best_us


@dataclass(frozen=True, slots=True)
class WallTime:
    """Seconds of wall time: of a run, or of what it took since it last told; it tells after each trial and at its end.

    One after the other come `propose_s`, `wait_s` (for kernels), `verify_s`, `measure_s` and `compare_s` (finalists in
    turns); together with what is written down they make up `total_s`. In `compile_s` at least one compilation was under
    way, beside any of these: all parts together may be more than the total. Proofs of predicted trials overlap too.
    """

    total_s: float
    propose_s: float
    compile_s: float
    wait_s: float
    verify_s: float
    measure_s: float
    compare_s: float

    def since(self, earlier: "WallTime") -> "WallTime":
        """What came after an earlier time of the same run."""
        return WallTime(*(getattr(self, f.name) - getattr(earlier, f.name) for f in fields(self)))


NOTHING = WallTime(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""What a run took when it begins."""

Event = TrialBegun | TrialEnded | Comparison | WallTime


@dataclass(frozen=True, slots=True)
class SessionResult:
    """How a session ended. `best` gave the least time; it is None only if it was cancelled or paused before any did.

    `comparison` is None when the default gave no time, or the session paused. `trials` counts those with an outcome, by
    status. Size and version of the space are None where it ended before the space was needed.
    """

    stop: Stop
    best: Trial | None
    baseline: Trial | None
    comparison: Comparison | None
    trials: dict[Status, int]
    space_size: int | None
    space_version: str | None
    wall: WallTime
