"""Findings about the kernels that each device of this machine runs."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hal import DeviceKind, ListedDevice, UnknownDevice, resolve_device
from hal.devices.listing import OPENCL_CPU_ID
from hal.probe.findings import Finding
from service.cluster.local import LocalExecutor
from tuner.measure.kernel_checks import check_kernels


def runnable_devices(devices: Sequence[ListedDevice]) -> list[ListedDevice]:
    """Return the devices that run kernels here: GPUs, the CPU, and OpenCL on it, which emulates a GPU."""
    found = [device for device in devices if device.runnable and device.targetable and device.address is not None]
    if any(device.spec.id == OPENCL_CPU_ID and device.runnable for device in devices):
        found.append(resolve_device(OPENCL_CPU_ID, None, devices))
    return found


def kernels(
    devices: Sequence[ListedDevice], executor: LocalExecutor, cache: Path, on_wait: Callable[[str], None]
) -> Iterator[Finding]:
    """Yield the findings about the kernels of each device; it waits for jobs that use a device."""
    with executor.compilers(cache) as compiler:
        for device in devices:
            with executor.opened(device, lambda: False, "xetune doctor", on_wait) as opened:
                if opened is not None:
                    yield from check_kernels(device.spec, opened, compiler)


def chosen(devices: Sequence[ListedDevice], name: str | None) -> list[ListedDevice]:
    """Return the devices to check: all that run kernels here, or the named one.

    Raises:
        UnknownDevice: it is not known, or runs no kernels here.
    """
    if name is None:
        return runnable_devices(devices)
    device = resolve_device(name, None, devices)
    if not device.runnable:
        instead = "a CPU" if device.spec.kind is DeviceKind.CPU else "the name of a device that is here"
        raise UnknownDevice(
            f"{device.spec.id} runs no kernels here ({device.note or 'it is elsewhere'}): give {instead}"
        )
    return [device]
