"""Resolve the name of a device as given by a user."""

from collections.abc import Sequence

from hal.devices.listed import ListedDevice, Runtime, listed
from hal.devices.listing import OPENCL_CPU_ID, list_devices
from hal.driver.simulated_gpus import PREFIX as SIMULATED
from hal.errors import AmbiguousDevice, UnknownDevice
from hal.facts.spec import (
    DeviceKind,
    DeviceSpec,
)
from hal.facts.xe import (
    XE_DEVICES,
    find,
    suggestion,
)
from hal.opencl.emulation import (
    PREFIX,
    emulated_spec,
)
from hal.probe.probe import CPU_RUNTIME
from hal.process.device_process import ProcessDevice

AUTO = "auto"
HOST_NAMES = ("cpu", "host-cpu")
DEFAULT_TARGET = "b580"


def resolve_device(name: str, target: str | None = None, among: Sequence[ListedDevice] | None = None) -> ListedDevice:
    """Return the device that `name` means: "auto", "cpu", "opencl-cpu", an id of the listing, or a name of the table.

    "auto" is the first Intel GPU here that can run kernels, else the CPU of this machine; with a `target`, a
    name of the table, it is that GPU, else the CPU OpenCL device, which emulates the target. "cpu" runs
    native kernels. `among` avoids listing the devices again.

    Raises:
        UnknownDevice: no device has that name, it only accepts kernels, or a runtime that it needs is not installed.
        AmbiguousDevice: several devices have it.
    """
    check_executes(name)
    wanted = name.strip().lower()
    devices = list_devices() if among is None else among
    if wanted == AUTO and target is None:
        gpu = next((d for d in devices if d.runnable and d.targetable and d.spec.kind is DeviceKind.GPU), None)
        return gpu if gpu is not None else _host(devices)
    if wanted == AUTO:
        here = next((d for d in devices if d.runnable and d.spec.id == find(target or "").id), None)
        return here if here is not None else _stand_in(devices, OPENCL_CPU_ID, target or DEFAULT_TARGET)
    if wanted.startswith(OPENCL_CPU_ID) and not wanted.startswith(PREFIX):
        return _stand_in(devices, wanted, target or DEFAULT_TARGET)
    if wanted.startswith(PREFIX):
        device = _stand_in(devices, OPENCL_CPU_ID, wanted.removeprefix(PREFIX))
    elif wanted in HOST_NAMES:
        device = _host(devices)
    else:
        by_id = {device.spec.id: device for device in devices}
        device = by_id.get(wanted) or by_id[_table_id(wanted, tuple(by_id))]
    own = device.spec.emulates or device.spec.id
    if target is not None and find(target).id != own:
        raise UnknownDevice(f"{wanted} runs kernels for {own}, not for {target}: leave the target out")
    return device


def check_executes(name: str) -> None:
    """Check that a name is none of a simulated driver, which has no results.

    Raises:
        UnknownDevice: it is; says the name of its GPU.
    """
    wanted = name.strip().lower()
    if wanted.startswith(SIMULATED):
        raise UnknownDevice(
            f"{wanted} accepts kernels and executes none, so it has no results and no times: name the GPU itself, "
            f"{wanted.removeprefix(SIMULATED)}; where the driver is installed, it accepts that GPU's kernels"
        )


def open_device(device: ListedDevice) -> ProcessDevice:
    """Open a device to run kernels on it, in a separate process; close it after use.

    Raises:
        UnknownDevice: it is not here, or nothing here can launch kernels on it.
    """
    if not device.runnable or device.address is None:
        instead = f"; {OPENCL_CPU_ID!r} runs kernels for it with emulated built-ins"
        raise UnknownDevice(
            f"no kernel can be run on {device.spec.id} here ({device.note or 'it is not in this machine'})"
            f"{instead if device.spec.kind is DeviceKind.GPU else ''}"
        )
    return ProcessDevice(device.spec, device.address)


def _host(devices: Sequence[ListedDevice]) -> ListedDevice:
    """Return the CPU of this machine."""
    host = next((device for device in devices if device.runtime is Runtime.HOST), None)
    if host is None:
        raise UnknownDevice("the CPU of this machine is not among the devices to choose from")
    return host


def _stand_in(devices: Sequence[ListedDevice], id: str, target: str) -> ListedDevice:
    """Return the CPU OpenCL device `id`, emulating the GPU `target`."""
    xe = _gpu_spec(devices, target)
    cpu = next((d for d in devices if d.spec.id == id and d.runnable), None)
    if cpu is None:
        why = next((d.note for d in devices if d.runtime is Runtime.HOST), "")
        raise UnknownDevice(f"no CPU OpenCL device {id!r} is here; `pip install {CPU_RUNTIME}` brings one ({why})")
    spec, notes = emulated_spec(cpu.spec, xe), ("DPAS emulated",)
    return listed(spec, cpu.runtime, cpu.address, runnable=True, notes=notes, no_energy=cpu.no_energy)


def _gpu_spec(devices: Sequence[ListedDevice], name: str) -> DeviceSpec:
    """Return the facts of the GPU to emulate: those of the GPU in this machine if present, else the table's."""
    id = find(name).id
    return next((device.spec for device in devices if device.spec.id == id), find(name))


def _table_id(wanted: str, ids: tuple[str, ...]) -> str:
    try:
        return find(wanted).id
    except AmbiguousDevice:
        raise
    except UnknownDevice:
        if wanted.startswith("cpu-"):
            here = next((id for id in ids if id.startswith("cpu-")), "another")
            raise UnknownDevice(
                f"{wanted} is not the CPU of this machine, which is {here}: tune where it is; "
                "`xetune compile --device FILE.json` makes kernels for it anywhere"
            ) from None
        names = (AUTO, *HOST_NAMES, OPENCL_CPU_ID, *ids, *(alias for row in XE_DEVICES for alias in row.aliases))
        raise UnknownDevice(f"no device is known as {wanted!r}; {suggestion(wanted, names)}") from None
