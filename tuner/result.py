"""What a session reports: while it runs, and at its end."""

from dataclasses import dataclass
from enum import StrEnum

from codegen import AnyConfig
from tuner.trial import Status, Trial


class Stop(StrEnum):
    """Why a session ended."""

    TRIALS = "trials"  # the budget of trials is spent
    SECONDS = "seconds"
    EXHAUSTED = "exhausted"  # every configuration was tried
    CANCELLED = "cancelled"
    PAUSED = "paused"  # its portion is spent, the budget is not


@dataclass(frozen=True, slots=True)
class TrialBegun:
    """Work on a trial begins."""

    number: int
    config: AnyConfig


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


Event = TrialBegun | TrialEnded | Comparison


@dataclass(frozen=True, slots=True)
class WallTime:
    """Seconds of this run by what the session waited for."""

    total_s: float
    propose_s: float
    compile_s: float
    verify_s: float
    measure_s: float


@dataclass(frozen=True, slots=True)
class SessionResult:
    """How a session ended. `best` gave the least time; it is None only if it was cancelled or paused before any did.

    `comparison` is None when the default gave no time, or the session paused. `trials` counts those with an outcome, by
    status.
    """

    stop: Stop
    best: Trial | None
    baseline: Trial | None
    comparison: Comparison | None
    trials: dict[Status, int]
    space_size: int
    space_version: str
    wall: WallTime
