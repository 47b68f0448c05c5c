"""How a kernel is run: what a launch needs, and the protocol of whatever runs it."""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hal.spec import DeviceSpec

Buffer = NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class Argument:
    """One kernel argument, in order. `dtype` is ours ("f16", "f32"); `nbytes` is the buffer's size."""

    name: str
    role: Literal["input", "output"]
    dtype: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """What a Device needs to launch a kernel. Sizes are in work-items, three dimensions each.

    Raises:
        ValueError: work-groups that do not divide the global size; some drivers would cut the last ones short.
    """

    binary: bytes  # SPIR-V
    kernel: str
    arguments: tuple[Argument, ...]
    global_size: tuple[int, int, int]
    local_size: tuple[int, int, int]
    subgroup_size: int
    build_options: str

    def __post_init__(self) -> None:
        sizes = zip(self.global_size, self.local_size, strict=True)
        if any(local < 1 or size < 1 or size % local for size, local in sizes):
            raise ValueError(
                f"kernel {self.kernel}: each local size must divide its global size, "
                f"got {self.local_size} for {self.global_size}"
            )


@dataclass(frozen=True, slots=True)
class Timing:
    """How to measure: events of the device's own clock, after a warm-up.

    Buffers rotate over at least `rotate_bytes`. Sampling ends when both `min_samples` and `min_time_s` are
    reached, or at `max_time_s`, or early when the running median is above `hopeless_us`.
    """

    warmup: int = 3
    min_samples: int = 30
    min_time_s: float = 0.2
    max_time_s: float = 2.0
    rotate_bytes: int = 0
    hopeless_us: float | None = None


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run gave: the output buffers by argument index, times in order of sampling, build time."""

    outputs: dict[int, Buffer]
    times_us: tuple[float, ...]
    build_s: float
    driver: str
    stopped_early: bool = False


class Device(Protocol):
    """Runs kernels on one device. Not thread-safe; the caller owns the buffers, which are copied.

    Outputs are poisoned by the caller (their contents go to the device as they are). Without `timing` the
    kernel runs once.

    Raises:
        KernelBuildFailed: the driver refused the binary.
        DeviceTimedOut: `timeout_s` passed; the device stays usable.
        DeviceCrashed: the run ended its process; the device stays usable.
    """

    @property
    def spec(self) -> DeviceSpec: ...

    def run(
        self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
    ) -> RunReport: ...

    def close(self) -> None: ...
