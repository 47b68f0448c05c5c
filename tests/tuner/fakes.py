"""Test doubles: a compiler and a device that do as told, and a fuse that ends the program at the nth step."""

import hashlib
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any

from codegen import (
    AnyArtifact,
    CodegenError,
    CpuArtifact,
    CpuConfig,
    GemmArtifact,
    GemmProblem,
    KernelConfig,
    StageOutput,
)
from codegen.cpu import rate_loops
from codegen.serialization import canonical_text
from codegen.workers.cache import CacheUses
from codegen.workers.pool import Made
from hal import (
    Argument,
    Buffer,
    DeviceFailed,
    DeviceKind,
    DeviceSpec,
    Fact,
    HalError,
    LaunchSpec,
    LaunchStep,
    RunReport,
    Timing,
    emulated_spec,
    find,
)
from hal.facts.spec import spec_from_facts
from tests.hal.spirv_modules import spirv_module
from tests.tuner.numpy_gemm import computed
from tuner.session.memory_store import MemoryTrialStore
from tuner.session.trial import Outcome, Trial
from tuner.verify.memory_layout import matrices

SMALL = GemmProblem(24, 40, 56)


def emulated() -> DeviceSpec:
    """A CPU of two cores that stands in for a B580."""
    facts = [Fact("cores", 2, "probed"), Fact("max_workgroup_size", 256, "probed"), Fact("driver", "fake 1", "probed")]
    return emulated_spec(spec_from_facts("cpu", "Fake CPU", DeviceKind.CPU, facts), find("b580"))


class Killed(BaseException):
    """Stands for kill -9."""


@dataclass
class Fuse:
    """Ends the program at step `at`; counts the steps."""

    at: int | None = None
    steps: int = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps == self.at:
            raise Killed


class FusedStore(MemoryTrialStore):
    """A store where the program may end right before and right after each write."""

    def __init__(self, fuse: Fuse) -> None:
        super().__init__()
        self.fuse = fuse

    def begin(self, number: int, config: KernelConfig, proposer: str | None = None) -> None:
        self.fuse.step()
        super().begin(number, config, proposer)
        self.fuse.step()

    def end(self, number: int, outcome: Outcome, artifact: AnyArtifact | None, following: Trial | None = None) -> bool:
        self.fuse.step()
        is_begun = super().end(number, outcome, artifact, following)
        self.fuse.step()
        return is_begun


@dataclass
class FakeCompilation:
    """Gives a kernel whose binary is the text of its configuration, an error, or waits to be cancelled."""

    problem: GemmProblem
    config: KernelConfig
    error: CodegenError | None = None
    hangs: bool = False
    fuse: Fuse = field(default_factory=Fuse)
    cancelled: threading.Event = field(default_factory=threading.Event)

    def result(self) -> AnyArtifact:
        self.fuse.step()
        if self.hangs:
            self.cancelled.wait(10)
            raise CancelledError
        if self.error is not None:
            raise self.error
        return artifact_of(self.problem, self.config)

    def finished(self) -> Made[AnyArtifact]:
        return Made(self.result())

    def cancel(self) -> None:
        self.cancelled.set()


@dataclass
class FakeCompiler:
    """Compiles at once; `errors` and `hangs` are asked for each configuration."""

    workers: int = 2
    busy_s: float = 0.0
    errors: Callable[[KernelConfig], CodegenError | None] = lambda _: None
    hangs: Callable[[KernelConfig], bool] = lambda _: False
    fuse: Fuse = field(default_factory=Fuse)
    begun: list[KernelConfig] = field(default_factory=list)
    made: list[FakeCompilation] = field(default_factory=list)
    uses: CacheUses = field(default_factory=CacheUses)

    def wait_until_up(self) -> None:
        pass

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> FakeCompilation:
        self.fuse.step()
        self.begun.append(config)
        self.uses.note(hit=False)
        self.made.append(FakeCompilation(problem, config, self.errors(config), self.hangs(config), self.fuse))
        return self.made[-1]


@dataclass
class FakeDevice:
    """Multiplies with numpy; times follow from the binary. `faults` by binary: an error, or a change to the first C."""

    problem: GemmProblem
    spec: DeviceSpec
    faults: Mapping[bytes, HalError | Callable[[Buffer], None]] = field(default_factory=dict)
    every: HalError | Callable[[Buffer], None] | None = None
    fuse: Fuse = field(default_factory=Fuse)
    runs: list[tuple[bytes, float, bool]] = field(default_factory=list)
    restarts: int = 0
    times_us: tuple[float, ...] | None = None  # of each run, in place of what follows from the binary
    report: dict[str, Any] = field(default_factory=dict)  # what else its reports hold
    time_us: Callable[[bytes], float] = lambda binary: 100 + int(hashlib.sha256(binary).hexdigest()[:4], 16) / 100

    def run(
        self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
    ) -> RunReport:
        refuse_rates(launch)
        self.fuse.step()
        self.runs.append((launch.binary, timeout_s, timing is not None))
        fault = self.faults.get(launch.binary, self.every)
        if isinstance(fault, HalError):
            raise fault
        outputs = computed(self.problem, buffers)
        if fault is not None:
            fault(matrices(outputs[2], self.problem.c, self.problem.batch)[0])
        times = tuple(self.time_us(launch.binary) * (1 + 0.01 * i) for i in range(5)) if timing is not None else ()
        self.fuse.step()
        return RunReport(outputs, self.times_us or times, 0.0, "fake 1", **self.report)

    def close(self) -> None:
        pass


def refuse_rates(launch: LaunchSpec) -> None:
    """Refuse the loops that measure the rates of a CPU.

    Raises:
        DeviceFailed: the launch is of one.
    """
    if launch.steps[0].kernel == rate_loops.KERNEL:
        raise DeviceFailed("it multiplies by numpy")


def binary_of(config: KernelConfig) -> bytes:
    """The binary that the fake compiler makes: a module without code."""
    return spirv_module(extensions=(canonical_text(config),))


def artifact_of(problem: GemmProblem, config: KernelConfig) -> AnyArtifact:
    """The kernel that the fake compiler makes."""
    if isinstance(config, CpuConfig):
        return cpu_artifact_of(problem, config)
    binary = binary_of(config)
    step = LaunchStep("gemm", tuple(range(len(problem.operands))), (16, 1, 1), (16, 1, 1))
    digest = hashlib.sha256(binary).hexdigest()
    return GemmArtifact(
        key=digest,
        content_hash=digest,
        target="fake",
        stages=(StageOutput("spirv", "kernel.spv", binary, 1),),
        toolchain={},
        kernels=(),
        problem=problem,
        config=config,
        launch=LaunchSpec(binary, _arguments(problem), (step,), 16, ""),
        memory_paths={},
    )


def cpu_artifact_of(problem: GemmProblem, config: CpuConfig) -> CpuArtifact:
    """The same of a CPU: B is packed by a step of its own, in memory that the launch brings."""
    binary, threads = binary_of(config), (config.thread_count, 1, 1)
    arguments = (*_arguments(problem), Argument("workspace", "scratch", "u8", 640), PACKED_B)
    packed = len(arguments) - 1
    steps = (
        LaunchStep("gemm_pack_b", (1, packed), threads, (1, 1, 1), once=True),
        LaunchStep("gemm", (*range(len(arguments)),), threads, (1, 1, 1)),
    )
    digest = hashlib.sha256(binary).hexdigest()
    texts = {"nest": "nest.ll", "llvm": "llvm.ll", "object": "kernel.o", "header": "kernel.h"}
    return CpuArtifact(
        key=digest,
        content_hash=digest,
        target=cpu_spec().id,
        stages=tuple(
            StageOutput(stage, name, binary if stage == "object" else f"; {stage} of {digest}".encode(), 1.5)
            for stage, name in texts.items()
        ),
        toolchain={"llvmlite": "0.50"},
        problem=problem,
        config=config,
        launch=LaunchSpec(binary, arguments, steps, 1, "", isa=cpu_spec().isa or ()),
    )


PACKED_B = Argument("packed_B", "scratch", "u8", 4096)


def cpu_spec() -> DeviceSpec:
    """A CPU of two cores with AVX-512."""
    isa = (
        "avx2",
        "avx512_bf16",
        "avx512_vnni",
        "avx512bw",
        "avx512dq",
        "avx512f",
        "avx512vl",
        "bmi1",
        "bmi2",
        "f16c",
        "fma",
    )
    facts = {
        "architecture": "x86_64",
        "target": "x86-64",
        "driver": "fake CPU 1",
        "cores": 2,
        "isa": isa,
        "l1_bytes": 48 * 1024,
        "l2_bytes": 1024 * 1024,
        "l3_bytes": 32 * 1024 * 1024,
        "line_bytes": 64,
    }
    named = [Fact(name, value, "probed") for name, value in facts.items()]
    return spec_from_facts("cpu-fake-2c", "Fake CPU with AVX-512", DeviceKind.CPU, named)


def _arguments(problem: GemmProblem) -> tuple[Argument, ...]:
    return tuple(Argument(o.name, o.role, o.dtype.value, o.nbytes(problem.batch)) for o in problem.operands)
