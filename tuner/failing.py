"""When trials fail one after the other, it may be their device that fails."""

from hal import DeviceSpec
from tuner.errors import DeviceUnusable
from tuner.trial import Outcome, Status

FAILURES = 5
"""Trials in a row whose run failed, before the device is suspected."""


def device_failed(outcome: Outcome) -> bool:
    """Whether a kernel was there, and its run crashed or had no end."""
    return outcome.status is Status.CRASHED or (outcome.status is Status.TIMED_OUT and outcome.kernel_hash is not None)


def unusable(spec: DeviceSpec, last: Outcome) -> DeviceUnusable:
    """The error that ends a job whose device fails."""
    return DeviceUnusable(f"{spec.name} failed {FAILURES} times in a row; last: {last.reason}")
