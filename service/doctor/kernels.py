"""Findings about the kernels that each device of this machine runs, and that a simulated driver accepts."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from db.errors import DatabaseError
from db.migrate import prepare
from hal import DeviceKind, DeviceSpec, ListedDevice, Runtime, SimulatedDevice, UnknownDevice, find, resolve_device
from hal.devices.listing import OPENCL_CPU_ID
from hal.devices.resolve import DEFAULT_TARGET
from hal.driver.installed import Driver
from hal.driver.simulated_gpus import PREFIX, SIMULATED_GPUS, SimulatedGpu, simulated_gpu
from hal.probe.findings import Finding, State
from service.cluster.local import LocalExecutor
from service.jobs.restrictions import restrictions_of, store_restrictions
from tuner.measure.kernel_checks import ACCEPT, CheckedKernel, by_acceptor, check_kernels, on_device
from tuner.space.restrictions import effect_of


@dataclass(frozen=True, slots=True)
class Accepting:
    """A GPU whose kernels the driver is asked to accept, which simulates `gpu`."""

    driver: Driver
    gpu: SimulatedGpu
    spec: DeviceSpec


@dataclass(frozen=True, slots=True)
class Chosen:
    """Devices that run the kernels, and GPUs for which a simulated driver accepts them."""

    running: tuple[ListedDevice, ...]
    accepting: tuple[Accepting, ...] = ()


def chosen(devices: Sequence[ListedDevice], names: Sequence[str], driver: Driver | None) -> Chosen:
    """Return the devices to check: the named ones, else all that run kernels here, and the GPUs here for the driver.

    Without a GPU here, the driver accepts kernels for the default target.

    Raises:
        UnknownDevice: one is not known, or neither runs kernels here nor is simulated by an installed driver.
    """
    if names:
        found = [_named(devices, name, driver) for name in dict.fromkeys(names)]
        return Chosen(
            tuple(each for each in found if isinstance(each, ListedDevice)),
            tuple(each for each in found if isinstance(each, Accepting)),
        )
    running = tuple(runnable_devices(devices))
    if driver is None:
        return Chosen(running)
    absent = (Runtime.TABLE, Runtime.SIMULATED)
    gpus = [device.spec for device in devices if device.spec.kind is DeviceKind.GPU and device.runtime not in absent]
    specs = gpus or [find(DEFAULT_TARGET)]
    simulated = (Accepting(driver, gpu, spec) for spec in specs if (gpu := simulated_gpu(spec)) is not None)
    return Chosen(running, tuple(simulated))


def _named(devices: Sequence[ListedDevice], name: str, driver: Driver | None) -> ListedDevice | Accepting:
    if name.startswith(PREFIX):
        gpu = next((gpu for gpu in SIMULATED_GPUS if gpu.id == name), None)
        if gpu is None:
            raise UnknownDevice(f"no driver simulates {name}; there are {', '.join(gpu.id for gpu in SIMULATED_GPUS)}")
        if driver is None:
            raise UnknownDevice(f"{name} needs the simulated driver: `xetune toolchain install driver`")
        return Accepting(driver, gpu, find(gpu.row))
    device = resolve_device(name, None, devices)
    if device.runnable:
        return device
    gpu = simulated_gpu(device.spec)
    if gpu is not None and driver is not None:
        return Accepting(driver, gpu, device.spec)
    instead = "a CPU" if device.spec.kind is DeviceKind.CPU else "the name of a device that is here"
    accepts = "" if gpu is None else "; `xetune toolchain install driver` gets a driver that accepts its kernels"
    raise UnknownDevice(
        f"{device.spec.id} runs no kernels here ({device.note or 'it is elsewhere'}): give {instead}{accepts}"
    )


def runnable_devices(devices: Sequence[ListedDevice]) -> list[ListedDevice]:
    """Return the devices that run kernels here: GPUs, the CPU, and OpenCL on it, which emulates a GPU."""
    found = [device for device in devices if device.runnable and device.targetable and device.address is not None]
    if any(device.spec.id == OPENCL_CPU_ID and device.runnable for device in devices):
        found.append(resolve_device(OPENCL_CPU_ID, None, devices))
    return found


def kernels(
    devices: Chosen, executor: LocalExecutor, cache: Path, database_url: str, on_wait: Callable[[str], None]
) -> Iterator[Finding]:
    """Yield the findings about the kernels of each device, and store their fallbacks for its jobs.

    It waits for jobs that use a device, and the device is used by no job until its fallbacks are stored.
    """
    with executor.compilers(cache) as compiler:
        for device in devices.running:
            with executor.opened(device, lambda: False, "xetune doctor", on_wait) as opened:
                if opened is None:
                    continue
                checked: list[CheckedKernel] = []
                for kernel in check_kernels(device.spec, on_device(opened, compiler)):
                    checked.append(kernel)
                    yield kernel.finding
                yield from _stored(database_url, device.spec, checked)
        for each in devices.accepting:
            with SimulatedDevice(each.driver, each.gpu) as acceptor:
                for kernel in check_kernels(each.spec, by_acceptor(acceptor, compiler), ACCEPT):
                    yield kernel.finding


def _stored(database_url: str, spec: DeviceSpec, checked: Sequence[CheckedKernel]) -> Iterator[Finding]:
    """Store the fallbacks of a device; yield those that its jobs take from now on, and those that they no longer take.

    A database is made only for fallbacks.
    """
    taken = list(dict.fromkeys(restriction.value for kernel in checked for restriction in kernel.fallback))
    try:
        with closing(prepare(database_url, create=bool(taken))) as database, database.write() as session:
            before = [row.name for row in restrictions_of(session, spec)]
            if taken or before:
                store_restrictions(session, spec, checked)
    except DatabaseError as error:
        if taken:
            found = f"its fallbacks are not stored, so that jobs do not take them: {error}"
            yield Finding("restrictions", spec.id, State.FAULT, found, "run it again when the database answers")
        return
    if taken:
        found = f"jobs on it take from now on: {', '.join(map(effect_of, taken))}"
        yield Finding("restrictions", spec.id, State.NOTE, found)
    if ended := [name for name in before if name not in taken]:
        found = f"jobs on it are no longer restricted to: {', '.join(map(effect_of, ended))}"
        yield Finding("restrictions", spec.id, State.NOTE, found)
