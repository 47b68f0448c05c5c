"""Intel's GPU driver in its simulation mode: the devices that it simulates, and its use in tuning runs."""

from collections.abc import Callable

from hal import DeviceKind, DeviceSpec, ListedDevice, list_devices
from hal.driver.installed import Driver, installed_driver
from hal.driver.simulated_device import SimulatedDevice
from hal.driver.simulated_gpus import simulated_gpu
from hal.probe.probe import Probes
from service.settings import Settings


def list_with_simulated(settings: Settings, probes: Callable[[], Probes] | None = None) -> list[ListedDevice]:
    """Return the devices of this machine, those that the installed driver simulates, and the table.

    `probes` returns the results of probes that were started before.
    """
    driver = installed_driver(settings.driver_dir)
    return list_devices(None if probes is None else probes(), driver)


AcceptorFor = Callable[[DeviceSpec], SimulatedDevice | None]


def acceptor_for(driver: Driver | None, spec: DeviceSpec) -> SimulatedDevice | None:
    """Return the simulated GPU that accepts kernels for an absent GPU; None without a driver, or of another family."""
    gpu = simulated_gpu(spec) if driver is not None and spec.kind is DeviceKind.GPU else None
    return None if driver is None or gpu is None else SimulatedDevice(driver, gpu)
