"""Acceptance of a launch by a driver: its program was built, its kernels created, its steps enqueued."""

from dataclasses import dataclass
from typing import Protocol

from hal.device import LaunchSpec


@dataclass(frozen=True, slots=True)
class KernelAttributes:
    """A kernel as its driver sees it. Memory is in bytes: private and spilled of a sub-group, local of a work-group.

    `local_size` and `subgroup_size` are those that the kernel requires, None if it requires none. `spill_bytes` is None
    if the driver does not report it.
    """

    kernel: str
    private_bytes: int
    spill_bytes: int | None
    slm_bytes: int
    local_size: tuple[int, int, int] | None
    subgroup_size: int | None
    max_local_size: int


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Acceptance of a launch: the driver's version, the chip that it simulated, the log of the build, and the kernels
    in the order of the steps.

    It says nothing about results or times: nothing was executed.
    """

    driver: str
    chip: str
    log: str
    kernels: tuple[KernelAttributes, ...]


class Acceptor(Protocol):
    """A driver that accepts launches and executes none. Not thread-safe."""

    def accept(self, launch: LaunchSpec, timeout_s: float) -> Acceptance:
        """Build the program of a launch, and enqueue its steps on buffers of its sizes.

        Raises:
            KernelBuildFailed: the driver refuses the program, a kernel or a step, or its compiler ends the process.
            DeviceTimedOut, DeviceCrashed: no answer, which says nothing about the kernel; the driver stays usable.
            DeviceFailed: the driver does not start, or shows no GPU.
        """
        ...
