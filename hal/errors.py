"""Errors of devices.

HalError
+-- UnknownDevice      no device of that name is known or here
|   +-- AmbiguousDevice     several are meant by it
+-- DeviceFailed       a run gave no result
    +-- KernelBuildFailed   the driver refused the binary
    +-- DeviceTimedOut      the time limit passed
    +-- DeviceCrashed       the run ended its process
"""


class HalError(Exception):
    """Base of the errors of this room."""


class UnknownDevice(HalError):
    """No device of that name is known or here."""


class AmbiguousDevice(UnknownDevice):
    """Several devices are meant by that name."""


class DeviceFailed(HalError):
    """A run gave no result."""


class KernelBuildFailed(DeviceFailed):
    """The driver refused the binary."""


class DeviceTimedOut(DeviceFailed):
    """The time limit passed."""


class DeviceCrashed(DeviceFailed):
    """The run ended its process."""
