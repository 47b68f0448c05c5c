"""What the hardware is, and how to run on it."""

from hal.device import Argument, Buffer, Device, LaunchSpec, LaunchStep, Role, RunReport, Scalar, Timing
from hal.emulation import emulated_spec
from hal.errors import (
    DeviceCrashed,
    DeviceFailed,
    DeviceTimedOut,
    HalError,
    KernelBuildFailed,
    UnknownDevice,
)
from hal.listed import Backend, ListedDevice, untargetable_reason
from hal.listing import list_devices
from hal.resolve import open_device, resolve_device
from hal.spec import FACT_NAMES, DeviceKind, DeviceSpec, Fact
from hal.xe import XE_DEVICES, find

__all__ = [
    "FACT_NAMES",
    "XE_DEVICES",
    "Argument",
    "Backend",
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
    "LaunchStep",
    "ListedDevice",
    "Role",
    "RunReport",
    "Scalar",
    "Timing",
    "UnknownDevice",
    "emulated_spec",
    "find",
    "list_devices",
    "open_device",
    "resolve_device",
    "untargetable_reason",
]
