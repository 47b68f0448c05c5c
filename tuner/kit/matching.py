"""Devices of this machine on which a kit can be measured."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hal import DeviceKind, DeviceSpec, ListedDevice, Runtime, UnknownDevice, resolve_device

_HERE = (Runtime.OPENCL, Runtime.SYCL, Runtime.PCI)


@dataclass(frozen=True, slots=True)
class Found:
    """A device of this machine. `measures` is the device as a kit measures it, None if it cannot.

    `why` says how they differ; one that differs and can be measured is only measured if it is named.
    """

    name: str
    number: int
    measures: ListedDevice | None
    why: str = ""


def found_devices(wanted: DeviceSpec, listed: Sequence[ListedDevice]) -> list[Found]:
    """Return the devices of this machine except the table and its CPU without OpenCL, numbered from 1."""
    here = [device for device in listed if device.runtime in _HERE]
    return [_found(number, device, wanted, listed) for number, device in enumerate(here, 1)]


def choose(wanted: DeviceSpec, found: Sequence[Found], name: str | None) -> ListedDevice:
    """Return the device to measure: the one of that number or name, else the first that is the kit's.

    Raises:
        UnknownDevice: there is none, or the named one cannot measure the kit; the message lists those that are here.
    """
    if name is None:
        fitting = [each.measures for each in found if each.measures is not None and not each.why]
        if not fitting:
            raise UnknownDevice(f"expected {wanted.name} ({wanted.id}), for which this kit is; {_told(found, wanted)}")
        return fitting[0]
    meant = next((each for each in found if name.lower() in (str(each.number), _id(each))), None)
    if meant is None:
        raise UnknownDevice(
            f"--device: expected a number or a name out of a list, got {name!r}; {_told(found, wanted)}"
        )
    if meant.measures is None:
        raise UnknownDevice(f"--device: {meant.name} {meant.why}; {_told(found, wanted)}")
    return meant.measures


def _id(found: Found) -> str:
    return found.name.partition(" ")[0]


def nothing_found(wanted: DeviceSpec) -> str:
    """Return what to install where no OpenCL device is listed."""
    if wanted.emulates is None:
        return "no OpenCL device is here: a GPU needs its driver, Debian's package intel-opencl-icd"
    return "no OpenCL device is here: `pip install intel-opencl-rt intel-cmplr-lib-rt` brings a driver for CPUs"


def _told(found: Sequence[Found], wanted: DeviceSpec) -> str:
    if not found:
        return nothing_found(wanted)
    return "here are " + "; ".join(f"{each.number}. {each.name}{each.why and f', which {each.why}'}" for each in found)


def _found(number: int, device: ListedDevice, wanted: DeviceSpec, listed: Sequence[ListedDevice]) -> Found:
    spec, name = device.spec, f"{device.spec.id} ({device.spec.name})"
    if device.runtime is not Runtime.OPENCL:
        return Found(name, number, None, f"cannot be measured: {device.note}")
    if spec.kind is DeviceKind.CPU:
        return _stand_in(name, number, device, wanted, listed)
    if wanted.kind is DeviceKind.CPU:
        return Found(name, number, None, f"is a GPU: the kernels are for a CPU that emulates {wanted.emulates}")
    if spec.id == wanted.id or (device.match is not None and device.match.rows == (wanted.id,)):
        return Found(name, number, replace(device, spec=replace(spec, id=wanted.id)))
    if spec.target == wanted.target:
        return Found(name, number, device, f"is not {wanted.id}, and runs its kernels: name it with --device {number}")
    return Found(name, number, None, f"has another target, {spec.target}: the kernels are for {wanted.target}")


def _stand_in(
    name: str, number: int, device: ListedDevice, wanted: DeviceSpec, listed: Sequence[ListedDevice]
) -> Found:
    """Return a CPU OpenCL device as the GPU that it emulates, if the kit has kernels for that."""
    if wanted.emulates is None:
        return Found(name, number, None, f"is a CPU: the kernels are for {wanted.name}")
    return Found(name, number, resolve_device(device.spec.id, wanted.emulates, listed))
