"""Failure policy: consecutive failures raise suspicion of the device; a job whose trials all fail has no result."""

from collections.abc import Mapping, Sequence
from itertools import takewhile

from hal import DeviceSpec
from tuner.errors import DeviceUnusable, NoValidMeasurement
from tuner.session.history import History
from tuner.session.trial import (
    Outcome,
    Status,
)

FAILURES = 5
"""Consecutive failed runs after which the device is suspected."""


def device_failed(outcome: Outcome) -> bool:
    """Return whether a compiled kernel crashed or timed out."""
    return outcome.status is Status.CRASHED or (outcome.status is Status.TIMED_OUT and outcome.kernel_hash is not None)


def failures_in_a_row(history: History) -> int:
    """Return how many of the last trials failed on the device in a row, after those for which it was checked."""
    outcomes = [outcome for _, outcome in history.ended()]
    return sum(1 for _ in takewhile(device_failed, reversed(outcomes))) % FAILURES


def unusable(spec: DeviceSpec, last: Outcome) -> DeviceUnusable:
    """Return the error that ends a job whose device fails."""
    return DeviceUnusable(f"{spec.name} failed {FAILURES} times in a row; last: {last.reason}")


def went_in(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return the seconds of trials by activity."""
    return {
        "waiting for kernels": sum(outcome.compile_s for outcome in outcomes),
        "verifying": sum(outcome.verify_s for outcome in outcomes),
        "measuring": sum(outcome.measure_s for outcome in outcomes),
    }


def nothing_valid(spec: DeviceSpec, history: History, went: Mapping[str, float] | None = None) -> NoValidMeasurement:
    """Return the error of a job without a time; `went` has the seconds by activity if the time budget ended it."""
    trials = "1 trial" if len(history) == 1 else f"{len(history)} trials"
    reason = history.last_reason()
    message = f"{trials} on {spec.name} gave no time"
    if reason is not None:
        message += f"; the last ended with: {reason}"
    if went is not None:
        most = sorted(((seconds, what) for what, seconds in went.items() if seconds >= 0.1), reverse=True)
        parts = ", ".join(f"{seconds:.1f} s {what}" for seconds, what in most) or "before this run"
        message += f"; the time limit is used up ({parts}): give the job more seconds"
    return NoValidMeasurement(message)
