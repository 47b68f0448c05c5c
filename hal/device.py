"""Protocol of devices that run kernels, and the description of a launch."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from hal.facts.spec import DeviceSpec

if TYPE_CHECKING:
    from hal.buffer import Buffer

Role = Literal["input", "output", "inout", "scratch"]
Extents = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Argument:
    """A buffer argument of a launch, in order. `dtype` is ours ("f16", "f32"); `nbytes` is the buffer's size.

    The contents of `scratch` memory before and after a launch do not matter.
    """

    name: str
    role: Role
    dtype: str
    nbytes: int


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number that is passed to a kernel: a 64-bit signed integer."""

    name: str
    value: int


@dataclass(frozen=True, slots=True)
class LaunchStep:
    """One kernel of a launch. `parameters` are the kernel's, in order: indices of the launch's arguments, and numbers.

    Sizes are in work-items, three dimensions each; on a CPU a work-item is a thread. A `once` step prepares
    memory that later launches only read: it runs before the first launch of a set of buffers, and is not timed.

    Raises:
        ValueError: work-groups that do not divide the global size; some drivers would cut the last ones short.
    """

    kernel: str
    parameters: tuple[int | Scalar, ...]
    global_size: Extents
    local_size: Extents
    once: bool = False

    def __post_init__(self) -> None:
        sizes = zip(self.global_size, self.local_size, strict=True)
        if any(local < 1 or size < 1 or size % local for size, local in sizes):
            raise ValueError(
                f"kernel {self.kernel}: each local size must divide its global size, "
                f"got {self.local_size} for {self.global_size}"
            )

    @property
    def groups(self) -> Extents:
        """Number of work-groups in each dimension."""
        x, y, z = (size // local for size, local in zip(self.global_size, self.local_size, strict=True))
        return x, y, z


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """Everything a Device needs to launch kernels of one binary: its steps run in order, one after the other.

    `isa` lists the CPU features that the binary needs, as flags of /proc/cpuinfo; a CPU that lacks one
    refuses it by name. `alignment` is the alignment of the caller's buffers in bytes; scratch is aligned to
    64.

    Raises:
        ValueError: no step, only `once` steps, or a step with an argument that does not exist.
    """

    binary: bytes  # SPIR-V, or for Intel GPUs a native binary (ELF), or an ELF object of x86-64
    arguments: tuple[Argument, ...]
    steps: tuple[LaunchStep, ...]
    subgroup_size: int
    build_options: str
    isa: tuple[str, ...] = ()
    alignment: int = 64

    def __post_init__(self) -> None:
        if all(step.once for step in self.steps):
            raise ValueError("a launch needs at least one step, and one that every launch runs")
        for step in self.steps:
            for parameter in step.parameters:
                if isinstance(parameter, int) and not 0 <= parameter < len(self.arguments):
                    raise ValueError(f"kernel {step.kernel}: there is no argument {parameter} of {len(self.arguments)}")

    @property
    def title(self) -> str:
        """Names of the kernels, for messages."""
        names = list(dict.fromkeys(step.kernel for step in self.steps))
        return f"kernel{'s' if len(names) > 1 else ''} {', '.join(names)}"


@dataclass(frozen=True, slots=True)
class Timing:
    """Measurement settings: timing by events of the device's clock, on a CPU by the duration of a call.

    Buffers rotate over at least `rotate_bytes`. Launches before the first sample last `warmup_s`, and longer
    until their times are steady; there is at least one. Sampling ends when both `min_samples` and
    `min_time_s` are reached, or at `max_time_s`. It ends early when even the least time is above `behind_us`
    and either the running median is above `hopeless_us` or a few more samples were taken; this must still
    hold a little later.
    """

    warmup_s: float = 0.05
    min_samples: int = 30
    min_time_s: float = 0.2
    max_time_s: float = 2.0
    rotate_bytes: int = 0
    hopeless_us: float | None = None
    behind_us: float | None = None


@dataclass(frozen=True, slots=True)
class RunReport:
    """Results of a run: outputs of the first launch by argument index, times in order of sampling, build time.

    A time is that of a whole launch: from the start of its first step to the end of its last, gaps included.
    Launches too short for the clock's resolution are timed together: a time is then the mean of
    `launches_per_sample` launches. `sampling_s` is the wall time of warm-up and sampling, `clock_mhz` the
    device clock meanwhile, and `energy_uj` the mean energy of a launch in microjoules, idle power included;
    the last two are None if not reported.
    """

    outputs: "dict[int, Buffer]"
    times_us: tuple[float, ...]
    build_s: float
    driver: str
    stopped_early: bool = False
    launches_per_sample: int = 1
    sampling_s: float = 0.0
    clock_mhz: float | None = None
    energy_uj: float | None = None


class Device(Protocol):
    """Runs kernels on one device. Not thread-safe; the caller owns the buffers, which are copied.

    `buffers` are those of the arguments that are not scratch, in order; the device allocates scratch itself.

    Outputs are poisoned by the caller (their contents are copied to the device unchanged). Without `timing`
    the launch runs once. Timed launches use separate copies, because `inout` memory changes from one launch
    to the next; the returned outputs are those of the first launch.

    Raises:
        KernelBuildFailed: the driver refused the binary, or a kernel takes a different number of parameters.
        DeviceTimedOut: `timeout_s` passed; the device stays usable.
        DeviceCrashed: the run ended its process; the device stays usable.
    """

    @property
    def spec(self) -> DeviceSpec: ...

    def run(
        self, launch: LaunchSpec, buffers: "tuple[Buffer, ...]", timing: Timing | None, timeout_s: float
    ) -> RunReport: ...

    def close(self) -> None: ...
