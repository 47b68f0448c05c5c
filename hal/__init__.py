"""Hardware: facts of devices, and running kernels on them."""

from typing import TYPE_CHECKING

from hal.late import late_exports

if TYPE_CHECKING:
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

# Imported when it is first asked for: most programs, and every help text, need a part of it.
_LATE = {
    "Acceptance": "hal.driver.acceptance",
    "Acceptor": "hal.driver.acceptance",
    "AmbiguousDevice": "hal.errors",
    "Argument": "hal.device",
    "Buffer": "hal.device",
    "Device": "hal.device",
    "DeviceCrashed": "hal.errors",
    "DeviceFailed": "hal.errors",
    "DeviceKind": "hal.facts.spec",
    "DeviceSpec": "hal.facts.spec",
    "DeviceTimedOut": "hal.errors",
    "Disagreement": "hal.devices.listed",
    "FACT_NAMES": "hal.facts.spec",
    "Fact": "hal.facts.spec",
    "HalError": "hal.errors",
    "KernelAttributes": "hal.driver.acceptance",
    "KernelBuildFailed": "hal.errors",
    "LaunchSpec": "hal.device",
    "LaunchStep": "hal.device",
    "ListedDevice": "hal.devices.listed",
    "Match": "hal.devices.listed",
    "NEEDS": "hal.facts.needs",
    "Readiness": "hal.facts.needs",
    "Role": "hal.device",
    "RunReport": "hal.device",
    "Runtime": "hal.devices.listed",
    "SUBGROUP_SIZES": "hal.devices.listed",
    "Scalar": "hal.device",
    "SimulatedDevice": "hal.driver.simulated_device",
    "TARGETS": "hal.devices.listed",
    "Timing": "hal.device",
    "UnknownDevice": "hal.errors",
    "Use": "hal.facts.needs",
    "XE_DEVICES": "hal.facts.xe",
    "XeDevice": "hal.facts.xe",
    "check_executes": "hal.devices.resolve",
    "emulated_spec": "hal.opencl.emulation",
    "find": "hal.facts.xe",
    "find_by_ip_version": "hal.facts.xe",
    "lacks_dpas": "hal.devices.listed",
    "list_devices": "hal.devices.listing",
    "needs_of": "hal.facts.needs",
    "open_device": "hal.devices.resolve",
    "readiness": "hal.facts.needs",
    "resolve_device": "hal.devices.resolve",
    "row_of": "hal.facts.xe",
    "runs_own_code": "hal.devices.listed",
    "subgroup_size": "hal.devices.listed",
    "untargetable_reason": "hal.devices.listed",
}

__getattr__ = late_exports(globals(), _LATE)
