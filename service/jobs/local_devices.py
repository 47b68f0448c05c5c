"""Which devices this machine can run jobs on, for a worker that takes jobs of those only."""

import time
from collections.abc import Callable, Sequence

from hal import XE_DEVICES, ListedDevice, list_devices
from hal.devices.listing import OPENCL_CPU_ID
from hal.opencl.emulation import PREFIX

_FRESH_S = 60.0


class DevicesHere:
    """Names of what can run here, looked up again after a minute. Not thread-safe."""

    def __init__(
        self,
        listing: Callable[[], list[ListedDevice]] = list_devices,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._listing, self._clock = listing, clock
        self._slugs: frozenset[str] = frozenset()
        self._looked_at: float | None = None

    def __call__(self) -> frozenset[str]:
        """The slugs, those of the stand-ins included."""
        now = self._clock()
        if self._looked_at is None or now - self._looked_at >= _FRESH_S:
            self._slugs, self._looked_at = runnable(self._listing()), now
        return self._slugs


def runnable(devices: Sequence[ListedDevice]) -> frozenset[str]:
    """The slugs of those that can run kernels, and of what they stand in for."""
    slugs = {device.spec.id for device in devices if device.runnable}
    if OPENCL_CPU_ID in slugs:
        slugs |= {f"{PREFIX}{row.spec.id}" for row in XE_DEVICES}
    return frozenset(slugs)
