"""Device of a worker's machine, locked for each launch."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hal import Buffer, DeviceKind, DeviceSpec, LaunchSpec, ListedDevice, RunReport, Timing
from service.cluster.dask.quiet import Quiet
from service.cluster.executor import OpenedDevice
from service.cluster.local import hardware_of
from service.jobs.device_lock import only_user
from tuner.measure.measure import StartingDevice


class DeviceInUse(Exception):
    """Another program of the machine uses the device."""


@dataclass(frozen=True, slots=True)
class GuardedDevice:
    """A device whose lock each launch takes; launches on a CPU do not overlap compilations."""

    device: OpenedDevice
    listed: ListedDevice
    locks: Path
    quiet: Quiet

    @property
    def spec(self) -> DeviceSpec:
        """Facts of the device."""
        return self.listed.spec

    @property
    def restarts(self) -> int:
        """Number of restarts of its process."""
        return self.device.restarts

    def start(self, timeout_s: float) -> None:
        """Start its process, if it has one, unless it is running.

        Raises:
            DeviceInUse: another program used the device for that long.
            DeviceTimedOut: it did not start within `timeout_s` seconds.
        """
        until_s = time.monotonic() + timeout_s
        with self._taken(until_s):
            if isinstance(self.device, StartingDevice):
                self.device.start(until_s - time.monotonic())

    def run(
        self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
    ) -> RunReport:
        """As Device.run.

        Raises:
            DeviceInUse: another program used the device for as long as the launch may take.
        """
        with self._taken(time.monotonic() + timeout_s):
            if self.spec.kind is not DeviceKind.CPU:
                return self.device.run(launch, buffers, timing, timeout_s)
            with self.quiet.alone():
                return self.device.run(launch, buffers, timing, timeout_s)

    def close(self) -> None:
        """Do nothing: the plugin closes the device when its job is over."""

    @contextmanager
    def _taken(self, until_s: float) -> Generator[None]:
        def is_late() -> bool:
            return time.monotonic() > until_s

        with only_user(hardware_of(self.listed), self.locks, is_late, "a job of the cluster") as alone:
            if not alone:
                raise DeviceInUse
            yield
