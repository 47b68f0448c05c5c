"""Device that accepts launches and executes none: Intel's driver in its simulation mode, in a child process."""

from types import TracebackType

from hal.device import LaunchSpec
from hal.driver.acceptance import Acceptance
from hal.driver.installed import Driver
from hal.driver.simulated_gpus import SimulatedGpu
from hal.errors import DeviceCrashed, DeviceFailed, HalError, KernelBuildFailed
from hal.process.child import Child

_OPEN_TIMEOUT_S = 60.0


class SimulatedDevice:
    """Acceptor of one GPU that the driver simulates; the process starts at the first launch.

    It is no Device: it has no `run`, since there are neither results nor times.
    """

    def __init__(self, driver: Driver, gpu: SimulatedGpu) -> None:
        self.driver, self.gpu = driver, gpu
        self._child: Child | None = None

    def __enter__(self) -> "SimulatedDevice":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def accept(self, launch: LaunchSpec, timeout_s: float) -> Acceptance:
        """Build the program of a launch and enqueue its steps; see Acceptor.accept."""
        child = self._opened()
        try:
            acceptance = self._built(child, launch, timeout_s)
            child.call(timeout_s, _enqueue, launch)
        except KernelBuildFailed:
            raise
        except DeviceFailed as failure:
            self.close()
            raise type(failure)(f"{launch.title} on {self.gpu.id}: {failure}") from None
        return acceptance

    def close(self) -> None:
        """End the process; the next launch starts another."""
        if self._child is not None:
            self._child.close()
            self._child = None

    def _opened(self) -> Child:
        if self._child is None or not self._child.alive:
            self.close()
            self._child = Child(self.driver.interpreter(self.gpu))
            try:
                self._child.call(_OPEN_TIMEOUT_S, _open)
            except HalError as failure:
                self.close()
                raise type(failure)(f"opening {self.gpu.id}: {failure}") from None
        return self._child

    def _built(self, child: Child, launch: LaunchSpec, timeout_s: float) -> Acceptance:
        """Return the acceptance of a program; a compiler that ends the process refuses it, as on the GPU itself."""
        try:
            acceptance = child.call(timeout_s, _build, launch, self.gpu.chip)
        except DeviceCrashed as crash:
            raise KernelBuildFailed(f"driver {self.driver.version}, building {launch.title}: {crash}") from None
        assert isinstance(acceptance, Acceptance)
        return acceptance


# The rest of the file runs in the child.
def _open() -> None:
    from hal.opencl import accepting

    accepting.gpu()


def _build(launch: LaunchSpec, chip: str) -> Acceptance:
    from hal.opencl import accepting

    return accepting.build(launch, chip)


def _enqueue(launch: LaunchSpec) -> None:
    from hal.opencl import accepting

    accepting.enqueue_all(launch)
