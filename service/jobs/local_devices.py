"""Devices on which this machine can run jobs, for a worker that takes only such jobs."""

import time
from collections.abc import Callable, Sequence

from hal import XE_DEVICES, ListedDevice, list_devices
from hal.devices.listing import OPENCL_CPU_ID
from hal.opencl.emulation import PREFIX
from service.telemetry.loggers import Logger

_FRESH_S = 60.0
_log = Logger(__name__)


class DevicesHere:
    """Slugs of the devices here, refreshed after a minute. Not thread-safe.

    Logs once for each GPU on the bus why it runs no kernels.
    """

    def __init__(
        self,
        listing: Callable[[], list[ListedDevice]] = list_devices,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._listing, self._clock = listing, clock
        self._slugs: frozenset[str] = frozenset()
        self._looked_at: float | None = None
        self._told: set[str] = set()

    def __call__(self) -> frozenset[str]:
        """Return the slugs, including emulated devices."""
        now = self._clock()
        if self._looked_at is None or now - self._looked_at >= _FRESH_S:
            listed = self._listing()
            self._slugs, self._looked_at = runnable(listed), now
            self._tell_unused(listed)
        return self._slugs

    def _tell_unused(self, devices: Sequence[ListedDevice]) -> None:
        for device in devices:
            if device.findings and not device.runnable and device.note not in self._told:
                self._told.add(device.note)
                _log.warning("a GPU of this machine is not used", device=device.spec.id, why=device.note)


def runnable(devices: Sequence[ListedDevice]) -> frozenset[str]:
    """Return the slugs of the devices that can run kernels, and of those that they emulate."""
    slugs = {device.spec.id for device in devices if device.runnable}
    if OPENCL_CPU_ID in slugs:
        slugs |= {f"{PREFIX}{row.spec.id}" for row in XE_DEVICES}
    return frozenset(slugs)
