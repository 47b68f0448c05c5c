"""Device in a child process: a kernel that hangs or crashes takes down only that process."""

from typing import TYPE_CHECKING

from hal.device import Device, LaunchSpec, RunReport, Timing
from hal.devices.listed import NATIVE, OVERSUBSCRIBED
from hal.errors import DeviceFailed, DeviceTimedOut, HalError, KernelBuildFailed
from hal.facts.spec import DeviceSpec
from hal.process.child import Child

if TYPE_CHECKING:
    from hal.buffer import Buffer

_OPEN_TIMEOUT_S = 60.0
# The device process is asked to stop itself, between two launches, shortly before it is killed from outside: then
# it keeps its context and its programs.
_SOFT_PART, _SOFT_MARGIN_S = 0.9, 1.0


class ProcessDevice:
    """A device in a child process, started at the first run and restarted after a loss.

    `address` selects it: "native" is the CPU itself, "opencl:<platform>:<device>" an OpenCL device.
    `timeout_s` of a run counts from when the device is open. Shortly before it has passed, the process itself
    stops between two launches; if a launch still runs, the process is killed with SIGTERM and then SIGKILL to
    its group.
    """

    def __init__(self, spec: DeviceSpec, address: str) -> None:
        self._spec = spec
        self._address = address
        self._child: Child | None = None
        self._started = 0

    @property
    def spec(self) -> DeviceSpec:
        """Facts of the device."""
        return self._spec

    @property
    def pid(self) -> int | None:
        """Process id of the child; None before the first run and after a loss."""
        return self._child.pid if self._child is not None else None

    @property
    def restarts(self) -> int:
        """Number of times the process was restarted after a loss."""
        return max(self._started - 1, 0)

    def start(self, timeout_s: float) -> None:
        """Start the child process and open the device in it, unless it is running; otherwise the next run does.

        Raises:
            DeviceTimedOut: it was not open within `timeout_s`; it was killed.
            DeviceFailed: it cannot be opened.
        """
        self._opened(timeout_s)

    def run(
        self, launch: LaunchSpec, buffers: "tuple[Buffer, ...]", timing: Timing | None, timeout_s: float
    ) -> RunReport:
        """Run a launch; see Device.run."""
        child = self._opened()
        try:
            soft_s = max(_SOFT_PART * timeout_s, timeout_s - _SOFT_MARGIN_S)
            report = child.call(timeout_s, _run, self._address, launch, buffers, timing, soft_s)
        except KernelBuildFailed:
            raise
        except DeviceFailed as failure:
            if not (isinstance(failure, DeviceTimedOut) and child.alive):
                self.close()  # only a new process repairs a context that lost a kernel
            raise type(failure)(f"{launch.title} on {self._spec.id}: {failure}") from None
        assert isinstance(report, RunReport)
        return report

    def close(self) -> None:
        """End the child process; the next run starts another."""
        if self._child is not None:
            self._child.close()
            self._child = None

    def _opened(self, timeout_s: float = _OPEN_TIMEOUT_S) -> Child:
        if self._child is not None and not self._child.alive:
            self.close()
        if self._child is None:
            child = Child()
            try:
                child.call(min(max(timeout_s, 0.0), _OPEN_TIMEOUT_S), _open, self._spec, self._address)
            except HalError as failure:
                child.close()
                raise type(failure)(f"opening {self._spec.id} at {self._address}: {failure}") from None
            self._child = child
            self._started += 1
        return self._child


# The rest of the file runs in the child.
_open_devices: dict[str, Device] = {}


def _open(spec: DeviceSpec, address: str) -> None:
    _open_devices[address] = _device(spec, address)


def _device(spec: DeviceSpec, address: str) -> Device:
    if address in (NATIVE, OVERSUBSCRIBED):
        from hal.cpu.device import NativeDevice

        return NativeDevice(spec, oversubscribed=address == OVERSUBSCRIBED)
    from hal.opencl.device import OpenCLDevice

    return OpenCLDevice(spec, address)


def _run(
    address: str, launch: LaunchSpec, buffers: "tuple[Buffer, ...]", timing: Timing | None, timeout_s: float
) -> RunReport:
    return _open_devices[address].run(launch, buffers, timing, timeout_s)
