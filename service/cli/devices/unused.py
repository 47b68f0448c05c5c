"""Notes on GPUs of this machine that a job does not use, because no driver runs kernels on them."""

from collections.abc import Iterator

from hal import DeviceKind, Runtime
from hal.devices.resolve import AUTO
from service.api.devices.schemas import DeviceList
from service.cli.access.opening import Access
from service.cli.devices.resources import DEVICES
from service.cli.printing.output import ERRORS, print_line


def print_unused_gpus(access: Access, asked: str, chosen: str) -> None:
    """Print a line for each GPU here that a job cannot use; it asked for a device, and has the `chosen` one."""
    for line in unused_gpus(access.read(DEVICES), asked, chosen):
        print_line(line, ERRORS)


def unused_gpus(told: DeviceList, asked: str, chosen: str) -> Iterator[str]:
    """Yield a line for each GPU on the bus that runs no kernels, if the job asked for any device or for that one."""
    for device in told.devices:
        is_idle = device.kind is DeviceKind.GPU and device.runtime in (Runtime.PCI, Runtime.SYCL)
        if is_idle and not device.runnable and (asked.strip().lower() == AUTO or device.id == chosen):
            yield f"note: {device.name} runs no kernels here: {device.note}"
