"""Hardware: facts of devices, and running kernels on them."""

from hal.device import Argument, Buffer, Device, LaunchSpec, LaunchStep, Role, RunReport, Scalar, Timing
from hal.devices.listed import (
    SUBGROUP_SIZES,
    TARGETS,
    Disagreement,
    ListedDevice,
    Match,
    Runtime,
    lacks_dpas,
    runs_own_code,
    subgroup_size,
    untargetable_reason,
)
from hal.devices.listing import list_devices
from hal.devices.resolve import check_executes, open_device, resolve_device
from hal.driver.acceptance import Acceptance, Acceptor, KernelAttributes
from hal.driver.simulated_device import SimulatedDevice
from hal.errors import (
    AmbiguousDevice,
    DeviceCrashed,
    DeviceFailed,
    DeviceTimedOut,
    HalError,
    KernelBuildFailed,
    UnknownDevice,
)
from hal.facts.needs import (
    NEEDS,
    Readiness,
    Use,
    needs_of,
    readiness,
)
from hal.facts.spec import (
    FACT_NAMES,
    DeviceKind,
    DeviceSpec,
    Fact,
)
from hal.facts.xe import (
    XE_DEVICES,
    XeDevice,
    find,
    find_by_ip_version,
    row_of,
)
from hal.opencl.emulation import emulated_spec

__all__ = [
    "FACT_NAMES",
    "NEEDS",
    "SUBGROUP_SIZES",
    "TARGETS",
    "XE_DEVICES",
    "Acceptance",
    "Acceptor",
    "AmbiguousDevice",
    "Argument",
    "Buffer",
    "Device",
    "DeviceCrashed",
    "DeviceFailed",
    "DeviceKind",
    "DeviceSpec",
    "DeviceTimedOut",
    "Disagreement",
    "Fact",
    "HalError",
    "KernelAttributes",
    "KernelBuildFailed",
    "LaunchSpec",
    "LaunchStep",
    "ListedDevice",
    "Match",
    "Readiness",
    "Role",
    "RunReport",
    "Runtime",
    "Scalar",
    "SimulatedDevice",
    "Timing",
    "UnknownDevice",
    "Use",
    "XeDevice",
    "check_executes",
    "emulated_spec",
    "find",
    "find_by_ip_version",
    "lacks_dpas",
    "list_devices",
    "needs_of",
    "open_device",
    "readiness",
    "resolve_device",
    "row_of",
    "runs_own_code",
    "subgroup_size",
    "untargetable_reason",
]
