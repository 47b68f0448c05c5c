"""Check that a driver executes what it is given: one that simulates a GPU accepts launches and runs none."""

from hal import Buffer, Device, DeviceSpec, LaunchSpec, RunReport, Timing
from tuner.errors import NothingExecuted
from tuner.measure.measure import StartingDevice


class ExecutingDevice:
    """A device whose clock must pass while it runs the first kernels that are timed."""

    def __init__(self, device: Device) -> None:
        self._device, self._has_run = device, False

    @property
    def spec(self) -> DeviceSpec:
        """Facts of the device."""
        return self._device.spec

    def start(self, timeout_s: float) -> None:
        """Start its process; raises as `StartingDevice`."""
        if isinstance(self._device, StartingDevice):
            self._device.start(timeout_s)

    def run(
        self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
    ) -> RunReport:
        """Run a launch; see Device.run.

        Raises:
            NothingExecuted: no launch so far took any time.
        """
        report = self._device.run(launch, buffers, timing, timeout_s)
        # Its outputs tell nothing: they are not copied back either.
        self._has_run = self._has_run or any(time_us > 0 for time_us in report.times_us)
        if not self._has_run:
            raise NothingExecuted(
                f"{report.driver} built {launch.title} and accepted {len(report.times_us)} launches, and none took any "
                "time: it simulates the GPU and executed nothing; there are no results, and nothing is written"
            )
        return report

    def close(self) -> None:
        """Close the device."""
        self._device.close()
