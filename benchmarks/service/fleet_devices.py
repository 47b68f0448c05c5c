"""Invented GPUs of a fleet: compilations and launches that take time on the fleet's clock alone."""

import hashlib
import threading
import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Protocol

from codegen import AnyArtifact, GemmArtifact, GemmProblem, KernelConfig, StageOutput
from codegen.serialization import canonical_text
from codegen.workers.cache import CacheUses
from hal import (
    Argument,
    Buffer,
    DeviceSpec,
    Fact,
    LaunchSpec,
    LaunchStep,
    ListedDevice,
    RunReport,
    Runtime,
    Timing,
    find,
)
from hal.facts.spec import spec_from_facts
from service.cluster.executor import Reached
from tests.hal.spirv_modules import spirv_module
from tuner.session.trial import (
    Proof,
    ProofKind,
)

COMPILE_S = 2.0  # as MLIR, LLVM and a driver take for a large kernel; two at one time for each device
TRIAL_S = 2.5  # building, a proof and a measurement
_STAGE_BYTES = 20_000


class Time(Protocol):
    """What a device needs of the fleet's clock."""

    def seconds(self) -> float:
        """Since some moment."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let that much time pass."""
        ...


@dataclass
class Seen:
    """Counts of the fleet's work. `simulated` is told the processor time of each simulated compilation and launch."""

    simulated: Callable[[float], None] = lambda _cpu_s: None
    launches: int = 0
    busy_s: float = 0.0  # of devices, on the fleet's clock
    starts: int = 0
    start_cpu_s: float = 0.0  # of jobs' threads, from the open device to the first launch
    trials_cpu_s: float = 0.0  # of jobs' threads, after it
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, seconds: float, cpu_s: float, is_first: bool) -> None:
        """One more launch, and what its job's thread computed since the one before."""
        with self.lock:
            self.launches += 1
            self.busy_s += seconds
            self.starts += is_first
            if is_first:
                self.start_cpu_s += cpu_s
            else:
                self.trials_cpu_s += cpu_s


@dataclass
class FleetDevice:
    """A GPU that takes its time and is always right; times follow from the kernel."""

    spec: DeviceSpec
    clock: Time
    seen: Seen
    restarts: int = 0
    launches: int = 0
    since_s: float = field(default_factory=time.thread_time)

    def run(
        self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
    ) -> RunReport:
        """Take the time of a launch."""
        now_s = time.thread_time()
        self.seen.count(TRIAL_S, now_s - self.since_s, self.launches == 0)
        self.since_s, self.launches = now_s, self.launches + 1
        self.clock.sleep(TRIAL_S)
        base = 100 + int(hashlib.sha256(launch.binary).hexdigest()[:4], 16) / 100
        report = RunReport({}, tuple(base * (1 + 0.001 * i) for i in range(30)), 0.01, self.spec.driver or "")
        self.seen.simulated(time.thread_time() - now_s)
        return report

    def verify(
        self, artifact: AnyArtifact, seed: int, timing: Timing | None, timeout_s: float
    ) -> tuple[Proof, RunReport]:
        """The same; the machine of the device has compared the numbers."""
        report = self.run(artifact.launch, (), timing, timeout_s)
        return Proof(ProofKind.DEVICE, 4, 4, 1e-4, 1e-3), report

    def close(self) -> None:
        """Nothing is open."""


@dataclass
class FleetCompilation:
    """Ready at a time of the fleet's clock."""

    clock: Time
    seen: Seen
    ready_s: float
    problem: GemmProblem
    config: KernelConfig

    def result(self) -> AnyArtifact:
        """Wait until then."""
        left_s = self.ready_s - self.clock.seconds()
        if left_s > 0:
            self.clock.sleep(left_s)
        begun_s = time.thread_time()
        kernel = _kernel(self.problem, self.config)
        self.seen.simulated(time.thread_time() - begun_s)
        return kernel

    def cancel(self) -> None:
        """Nothing to stop."""


@dataclass
class FleetCompiler:
    """A compiler that runs two compilations at a time."""

    clock: Time
    seen: Seen
    workers: int = 2
    busy_s: float = 0.0
    free_s: tuple[float, float] = (0.0, 0.0)
    uses: CacheUses = field(default_factory=CacheUses)

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> FleetCompilation:
        """Start a compilation as soon as one of the two is free."""
        first, other = sorted(self.free_s)
        ready_s = max(first, self.clock.seconds()) + COMPILE_S
        self.free_s = (ready_s, other)
        return FleetCompilation(self.clock, self.seen, ready_s, problem, config)


@dataclass
class FleetExecutor:
    """One GPU."""

    listed: ListedDevice
    clock: Time
    seen: Seen
    predicts: bool = False

    @property
    def id(self) -> str:
        """Its slug."""
        return self.listed.spec.id

    @property
    def host(self) -> str:
        """A machine of its own."""
        return f"node-{self.id}"

    def devices(self) -> Collection[str]:
        """Itself."""
        return (self.id,)

    def resolve(self, name: str) -> ListedDevice:
        """Itself."""
        return self.listed

    @contextmanager
    def opened(
        self, listed: ListedDevice, stopped: Callable[[], bool], user: str, on_wait: Callable[[str], None]
    ) -> Generator[FleetDevice]:
        """Open at once."""
        yield FleetDevice(listed.spec, self.clock, self.seen)

    @contextmanager
    def compilers(self, cache: Path) -> Generator[FleetCompiler]:
        """Its two."""
        yield FleetCompiler(self.clock, self.seen)


@dataclass
class Fleet:
    """An engine of invented GPUs."""

    here: Sequence[FleetExecutor]
    name: str = "cluster"

    def executors(self) -> Sequence[FleetExecutor]:
        """All, always."""
        return self.here

    def reached(self) -> Sequence[Reached]:
        """Those that other machines would be told of."""
        return [Reached(executor.id, executor.host, executor.listed) for executor in self.here]

    def close(self) -> None:
        """Nothing is open."""


def gpu(number: int) -> ListedDevice:
    """A B580 with a driver."""
    row = find("b580")
    spec = spec_from_facts(
        f"b580-{number:04d}", row.name, row.kind, [*row.facts(), Fact("driver", "fleet 1", "probed")]
    )
    return ListedDevice(spec, Runtime.OPENCL, f"0:{number}", runnable=True, targetable=True, note="")


@cache
def _module() -> tuple[bytes, bytes]:
    """Return SPIR-V before and after the 64 digits that make it that of a configuration."""
    before, after = spirv_module(extensions=("?" * 64 + "0" * _STAGE_BYTES,)).split(b"?" * 64)
    return before, after


def _kernel(problem: GemmProblem, config: KernelConfig) -> AnyArtifact:
    """A kernel whose files are as large as those of a real one."""
    text = canonical_text(config)
    digest = hashlib.sha256(text.encode()).hexdigest()
    body = f"{text}\n{digest * (_STAGE_BYTES // 64)}"
    binary = digest.encode().join(_module())
    texts = {"xetile": "xetile.mlir", "xegpu": "xegpu.mlir", "llvm": "llvm.ll"}
    arguments = tuple(Argument(o.name, o.role, o.dtype.value, o.nbytes(problem.batch)) for o in problem.operands)
    step = LaunchStep("gemm", tuple(range(len(arguments))), (16, 1, 1), (16, 1, 1))
    return GemmArtifact(
        key=digest,
        content_hash=digest,
        target="bmg",
        stages=(
            *(StageOutput(stage, name, f"{stage}{body}".encode(), 1.0) for stage, name in texts.items()),
            StageOutput("spirv", "kernel.spv", binary, 1.0),
        ),
        toolchain={"xetune": "fleet"},
        kernels=(),
        problem=problem,
        config=config,  # type: ignore[arg-type]
        launch=LaunchSpec(binary, arguments, (step,), 16, ""),
        memory_paths={},
    )
