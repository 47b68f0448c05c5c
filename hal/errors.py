"""Errors of devices.

HalError
+-- UnknownDevice      no device of that name is known or present
|   +-- AmbiguousDevice     several devices have that name
+-- DeviceFailed       a run has no result
    +-- KernelBuildFailed   the driver refused the binary
    +-- DeviceTimedOut      the time limit passed
    +-- DeviceCrashed       the run ended its process
"""


class HalError(Exception):
    """Base of the errors of this room."""


class UnknownDevice(HalError):
    """No device of that name is known or present."""


class AmbiguousDevice(UnknownDevice):
    """Several devices have that name."""


class DeviceFailed(HalError):
    """A run has no result."""


class KernelBuildFailed(DeviceFailed):
    """The driver refused the binary."""


class DeviceTimedOut(DeviceFailed):
    """The time limit passed."""


class DeviceCrashed(DeviceFailed):
    """The run ended its process."""
