"""Behaviour of every Executor: this machine, and one behind a Dask scheduler."""

from collections.abc import Callable, Generator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from codegen import CodegenError, CompileCrashed, KernelConfig
from hal import DeviceCrashed, HalError, UnknownDevice
from hal.devices.listed import ListedDevice
from service.cluster import local
from service.cluster.executor import Executor
from service.cluster.local import LocalExecutor
from tests.faults.jobs import HERE, SPEC
from tests.service.cluster.dask_cluster import fake_plugin, running
from tests.tuner.fakes import SMALL, FakeCompiler, FakeDevice, artifact_of
from tuner.backend import tuning_for
from tuner.verify.reference import Reference

CONFIG = tuning_for(SPEC).default(SMALL, SPEC)
LAUNCH = artifact_of(SMALL, CONFIG).launch


@dataclass
class Machine:
    """Behaviour of the compiler and the device of an executor."""

    compile_error: CodegenError | None = None
    run_error: HalError | None = None
    opened: int = 0
    closed: int = 0
    made: list[FakeDevice] = field(default_factory=list)

    def compiler(self) -> FakeCompiler:
        """Return a compiler that fails if `compile_error` is set."""

        def error(_: KernelConfig) -> CodegenError | None:
            return self.compile_error

        return FakeCompiler(errors=error)

    def device(self, _: object) -> FakeDevice:
        """Open a device."""
        machine = self
        self.opened += 1

        class Closing(FakeDevice):
            def close(self) -> None:
                machine.closed += 1

        self.made.append(Closing(SMALL, SPEC, every=self.run_error, restarts=3))
        return self.made[-1]


@pytest.fixture
def machine() -> Machine:
    """A machine without faults; tests set them."""
    return Machine()


@pytest.fixture(params=["local", "dask"])
def executor(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, machine: Machine
) -> Generator[Executor]:
    """An executor with the invented CPU."""
    if request.param == "local":
        monkeypatch.setattr(local, "CompilePool", lambda *_: nullcontext(machine.compiler()))
        monkeypatch.setattr(local, "open_device", machine.device)

        def resolve(name: str) -> ListedDevice:
            if name != SPEC.id:
                raise UnknownDevice(name)
            return HERE

        yield LocalExecutor(resolve, tmp_path / "locks", lambda: {SPEC.id})
        return
    with running(tmp_path) as cluster:
        cluster.start_worker("w1", fake_plugin(monkeypatch, tmp_path, [HERE], machine.compiler(), machine.device))
        engine = cluster.engine()
        yield next(executor for executor in engine.executors() if SPEC.id in executor.devices())
        engine.close()


def run(executor: Executor, times: int = 1, look: Callable[[], None] = lambda: None) -> tuple[np.ndarray, int]:
    """Launch on the device of an executor; return C and the number of restarts reported."""
    reference = Reference(SMALL, 7)
    with executor.opened(executor.resolve(SPEC.id), lambda: False, "a test", lambda _: None) as device:
        assert device is not None
        assert device.spec == SPEC
        reports = [device.run(LAUNCH, reference.buffers(), None, 30.0) for _ in range(times)]
        look()
        return reports[-1].outputs[2], device.restarts


class TestExecutor:
    def test_it_knows_its_devices(self, executor: Executor) -> None:
        assert SPEC.id in executor.devices()
        assert executor.resolve(SPEC.id).spec == SPEC
        with pytest.raises(UnknownDevice):
            executor.resolve("nothing-of-that-name")

    def test_it_compiles(self, executor: Executor, tmp_path: Path) -> None:
        with executor.compilers(tmp_path / "cache") as compilers:
            assert compilers.workers >= 1
            assert compilers.compile(SMALL, CONFIG, SPEC).result() == artifact_of(SMALL, CONFIG)

    def test_a_compilation_that_fails_says_how(self, executor: Executor, machine: Machine, tmp_path: Path) -> None:
        machine.compile_error = CompileCrashed("spirv", "it died")
        with (
            executor.compilers(tmp_path / "cache") as compilers,
            pytest.raises(CompileCrashed, match="stage spirv: it died"),
        ):
            compilers.compile(SMALL, CONFIG, SPEC).result()

    def test_it_runs_what_is_right_and_closes_the_device(self, executor: Executor, machine: Machine) -> None:
        c, restarts = run(executor, times=3)
        a, b = Reference(SMALL, 7).buffers()[:2]
        np.testing.assert_allclose(
            c.reshape(SMALL.m, SMALL.n),
            a.reshape(SMALL.m, SMALL.k).astype(np.float32) @ b.reshape(SMALL.k, SMALL.n).astype(np.float32),
            rtol=1e-4,
            atol=1e-4,
        )
        assert restarts == 3
        assert machine.opened == 1

    def test_a_launch_that_fails_says_how_and_the_next_may_not(self, executor: Executor, machine: Machine) -> None:
        machine.run_error = DeviceCrashed("it was ended by SIGSEGV")
        with pytest.raises(DeviceCrashed, match="SIGSEGV"):
            run(executor)
        machine.run_error = None
        for device in machine.made:
            device.every = None
        run(executor)
