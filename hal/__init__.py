"""What the hardware is, and how to run on it."""

from hal.device import Argument, Buffer, Device, LaunchSpec, RunReport, Timing
from hal.errors import (
    DeviceCrashed,
    DeviceFailed,
    DeviceTimedOut,
    HalError,
    KernelBuildFailed,
    UnknownDevice,
)
from hal.spec import DeviceKind, DeviceSpec, Fact

__all__ = [
    "Argument",
    "Buffer",
    "Device",
    "DeviceCrashed",
    "DeviceFailed",
    "DeviceKind",
    "DeviceSpec",
    "DeviceTimedOut",
    "Fact",
    "HalError",
    "KernelBuildFailed",
    "LaunchSpec",
    "RunReport",
    "Timing",
    "UnknownDevice",
]
