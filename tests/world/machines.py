"""Compilers and devices of the hosts, on virtual time, with the faults of the plan, and records of their work."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Generator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codegen import AnyArtifact, CompileCrashed, CompileTimedOut, GemmProblem, KernelConfig
from codegen.serialization import canonical_text
from codegen.workers.cache import CacheUses
from hal import Buffer, DeviceCrashed, DeviceSpec, DeviceTimedOut, LaunchSpec, LaunchStep, RunReport, Timing
from hal.devices.listed import ListedDevice, Runtime
from service.cluster.executor import ExecutorLost, OpenedDevice, Reached
from service.cluster.local import LocalExecutor
from tests.hal.spirv_modules import spirv_module
from tests.tuner.fakes import artifact_of, cpu_spec
from tests.tuner.numpy_gemm import computed
from tests.world.plan import Kind
from tests.world.standard import Event
from tests.world.virtual import Broken, Host
from tuner.verify.memory_layout import matrices

if TYPE_CHECKING:
    from tests.world.world import World

SPEC = cpu_spec()
HERE = ListedDevice(SPEC, Runtime.HOST, "native", runnable=True, targetable=True, note="")
_COMPILE_S, _HANG_S, _LAUNCH_S = 1.0, 60.0, 0.5
RATE_LOOP = LaunchSpec(b"a loop of multiplies or reads", (), (LaunchStep("loop", (), (1, 1, 1), (1, 1, 1)),), 1, "")
"""In place of the loops that measure the rates of a CPU, which are not executed here."""
_CACHE: dict[tuple[str, str], AnyArtifact] = {}


def kernel_of(problem: GemmProblem, config: KernelConfig) -> AnyArtifact:
    """Return the kernel of a problem and a configuration; its binary names both."""
    key = problem.key, config.key
    if key not in _CACHE:
        made = artifact_of(problem, config)
        binary = spirv_module(extensions=(canonical_text(config), problem.key))
        digest = hashlib.sha256(binary).hexdigest()
        stages = tuple(replace(s, data=binary) if s.data == made.launch.binary else s for s in made.stages)
        changed: dict[str, Any] = {"key": digest, "content_hash": digest, "stages": stages}
        _CACHE[key] = replace(made, launch=replace(made.launch, binary=binary), **changed)
    return _CACHE[key]


@dataclass
class Truth:
    """What really ran: kernels by binary, and whether the last results of each were right, by worker."""

    kernels: dict[bytes, tuple[GemmProblem, KernelConfig, str]] = field(default_factory=dict)
    right: dict[tuple[str, str], bool] = field(default_factory=dict)
    times_us: dict[str, float] = field(default_factory=dict)
    users: dict[str, object] = field(default_factory=dict)


@dataclass
class SimCompilation:
    """A compilation of a second."""

    world: World
    problem: GemmProblem
    config: KernelConfig
    ready_s: float
    cancelled: Event = field(default_factory=Event)
    fault: Exception | None = None

    def result(self) -> AnyArtifact:
        scheduler, faults = self.world.scheduler, self.world.faults
        scheduler.check_alive()
        if self.fault is None and faults.take(Kind.COMPILER_HANGS):
            self.ready_s = scheduler.now_s + _HANG_S
            self.fault = CompileTimedOut("spirv", f"no result after {_HANG_S} s")
        elif self.fault is None and faults.take(Kind.COMPILER_CRASHES):
            self.fault = CompileCrashed("spirv", "the compiler ended with signal 11")
        if scheduler.wait("compiles", self.ready_s - scheduler.now_s, self.cancelled.is_set):
            raise CancelledError
        if self.fault is not None:
            raise self.fault
        made = kernel_of(self.problem, self.config)
        self.world.truth.kernels[made.launch.binary] = self.problem, self.config, made.content_hash
        return made

    def cancel(self) -> None:
        self.cancelled.set()


@dataclass
class SimCompiler:
    """Compile workers of an executor."""

    world: World
    check: Callable[[], None]
    workers: int = 2
    busy_s: float = 0.0
    uses: CacheUses = field(default_factory=CacheUses)

    def wait_until_up(self) -> None:
        """They are."""

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> SimCompilation:
        self.world.scheduler.check_alive()
        self.check()
        self.uses.note(hit=False)
        return SimCompilation(self.world, problem, config, self.world.scheduler.now_s + _COMPILE_S)


@dataclass
class SimDevice:
    """The device of a host, in use by one process."""

    world: World
    host: Host
    check: Callable[[], None]
    restarts: int = 0
    spec: DeviceSpec = SPEC

    def run(
        self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
    ) -> RunReport:
        world, scheduler, faults = self.world, self.world.scheduler, self.world.faults
        scheduler.check_alive()
        self.check()
        process = scheduler.process
        task = scheduler.current.name if scheduler.current else ""
        kernel = None if launch.binary == RATE_LOOP.binary else world.truth.kernels[launch.binary]
        if kernel is not None:
            world.invariants.at_launch(process, task, *kernel[:2])
        if faults.take(Kind.DEVICE_BROKEN):
            faults.broken_launches = 6
        if faults.take(Kind.DEVICE_HANGS):
            scheduler.wait("hangs", timeout_s)
            self.restarts += 1
            raise DeviceTimedOut(f"the launch did not end within {timeout_s:.1f} s")
        scheduler.wait("launches", min(_LAUNCH_S, timeout_s))
        if faults.broken_launches or faults.take(Kind.DEVICE_CRASHES):
            faults.broken_launches = max(faults.broken_launches - 1, 0)
            self.restarts += 1
            raise DeviceCrashed("the device process ended with signal 11")
        if faults.take(Kind.DOUBLED_LAUNCH):
            if kernel is not None:
                world.invariants.at_launch(process, task, *kernel[:2])
            scheduler.wait("launches again", min(_LAUNCH_S, timeout_s))
        if late := faults.take(Kind.LATE_REPORT):
            scheduler.wait("waits for the report", late.seconds)
        if faults.take(Kind.EXECUTOR_LOST):
            raise ExecutorLost(f"{self.host.name} does not answer any more")
        self.check()
        if kernel is None:
            return RunReport({}, (100.0,) * 5, 0.0, str(SPEC.driver))
        problem, _, content_hash = kernel
        outputs = computed(problem, buffers)
        is_wrong = faults.take(Kind.DEVICE_WRONG) is not None
        if is_wrong:
            matrices(outputs[2], problem.c, problem.batch)[0][0, 0] += 1000
        world.truth.right[process.name, content_hash] = not is_wrong
        noise = 5.0 if faults.take(Kind.DEVICE_NOISE) else 1.0
        us = noise * (100 + int(content_hash[:4], 16) / 100)
        times = tuple(us * (1 + 0.01 * i) for i in range(5)) if timing is not None else ()
        return RunReport(outputs, times, 0.0, str(SPEC.driver))

    def close(self) -> None:
        """Nothing is open."""


def executor_of(world: World, host: Host) -> LocalExecutor:
    """Return the executor of a host for a process on it."""
    return LocalExecutor(lambda _: HERE, world.folder / f"locks of {host.name}", lambda: {SPEC.id})


@dataclass(frozen=True)
class FarExecutor:
    """An executor of a cluster: another host, reached over the network."""

    world: World
    machine: Host
    id: str
    predicts: bool = False

    @property
    def host(self) -> str:
        return self.machine.name

    def devices(self) -> Collection[str]:
        return {SPEC.id}

    def resolve(self, name: str) -> ListedDevice:
        return HERE

    def check(self) -> None:
        """Check that it can be reached.

        Raises:
            ExecutorLost: it cannot.
        """
        if self.machine.cut_until_s > self.world.scheduler.now_s:
            self.world.scheduler.wait("waits for an executor", 5.0)
            raise ExecutorLost(f"{self.machine.name} cannot be reached")

    @contextmanager
    def opened(
        self, listed: ListedDevice, stopped: Callable[[], bool], user: str, on_wait: Callable[[str], None]
    ) -> Generator[OpenedDevice | None]:
        self.check()
        with executor_of(self.world, self.machine).opened(listed, stopped, user, on_wait) as device:
            yield None if device is None else SimDevice(self.world, self.machine, self.check)

    @contextmanager
    def compilers(self, cache: Path) -> Generator[SimCompiler]:
        self.check()
        yield SimCompiler(self.world, self.check)


@dataclass(frozen=True)
class Cluster:
    """The engine of a cluster of hosts."""

    world: World
    hosts: Sequence[Host]
    name: str = "cluster"

    def executors(self) -> list[FarExecutor]:
        now_s = self.world.scheduler.now_s
        here = [host for host in self.hosts if host.cut_until_s <= now_s]
        return [FarExecutor(self.world, host, f"at {host.name}") for host in here]

    def reached(self) -> list[Reached]:
        return [Reached(each.id, each.host, HERE) for each in self.executors()]

    def close(self) -> None:
        """Nothing is open."""


@contextmanager
def exclusive(world: World, host: Host) -> Generator[None]:
    """Check that one process at a time uses a device."""
    user = world.scheduler.process
    other = world.truth.users.get(host.name)
    if other is not None:
        raise Broken(f"two jobs on the device of {host.name}: {other} and {user}")
    world.truth.users[host.name] = user
    try:
        yield
    finally:
        del world.truth.users[host.name]
