"""Kernels of CPUs that are wrong or crash, on the CPU of this machine: each is an Outcome, and the job goes on."""

import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from codegen import AnyArtifact, CpuArtifact, DType, GemmProblem, KernelConfig
from codegen.config.cpu import CpuConfig
from codegen.cpu.compile import compile_cpu_gemm
from codegen.cpu.emit.object_code import (
    emit_object,
    optimise,
)
from codegen.cpu.nest.pool_runtime import (
    AMX,
    POOL,
)
from hal import Device, DeviceSpec, open_device, resolve_device
from hal.devices.listed import NATIVE
from hal.devices.listing import list_devices
from hal.facts.cpu import probe_cpu
from hal.probe.probe import (
    ProbeReport,
    Probes,
)
from hal.process.device_process import ProcessDevice
from tuner.measure.isa_check import Unexamined
from tuner.measure.measure import (
    Bench,
    Limits,
    evaluate,
)
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec
from tuner.session.memory_store import MemoryTrialStore
from tuner.session.session import run_session
from tuner.session.trial import Status
from tuner.space.cpu.heuristic import default_cpu_config
from tuner.verify.reference import Reference

PROBLEM = GemmProblem(45, 100, 77, dtype_a=DType.F32, dtype_b=DType.F32)
SPEC = probe_cpu()
pytestmark = pytest.mark.skipif(SPEC.target is None or "avx2" not in (SPEC.isa or ()), reason="needs x86-64 with AVX2")

# What the planted kernel does in place of the product, and what becomes of its trial.
ENDLESS = "br label %loop\nloop:\nfence seq_cst\nbr label %loop"
FAULTS = {
    "does nothing": ("ret i32 0", Status.WRONG_RESULT, "not written"),
    "writes one element": ("store float 1.0, ptr %C\nret i32 0", Status.WRONG_RESULT, "wrong"),
    "reads at zero": ("%v = load volatile i32, ptr null\nret i32 %v", Status.CRASHED, "SIGSEGV"),
    "writes right behind C": (
        "%at = getelementptr float, ptr %C, i64 4500\nstore volatile float 1.0, ptr %at\nret i32 0",
        Status.CRASHED,
        "right before or after argument C",
    ),
    "writes beyond C": (
        "%at = getelementptr float, ptr %C, i64 4600\nstore volatile float 1.0, ptr %at\nret i32 0",
        Status.CRASHED,
        "SIGSEGV",
    ),
    "an instruction that no CPU has": ('call void asm sideeffect "ud2", ""()\nret i32 0', Status.CRASHED, "SIGILL"),
    "a division by zero": (
        'call void asm sideeffect "xorl %ecx, %ecx; xorl %eax, %eax; cltd; idivl %ecx", "~{eax},~{ecx},~{edx}"()\n'
        "ret i32 0",
        Status.CRASHED,
        "SIGFPE",
    ),
    "an abort": ("call void @abort()\nunreachable", Status.CRASHED, "SIGABRT"),
    "a status": ("ret i32 7", Status.COMPILE_FAILED, "returned 7"),
    "never ends": (ENDLESS, Status.TIMED_OUT, "no answer"),
}


@pytest.fixture(scope="module", autouse=True)
def small_caches() -> Iterator[None]:
    """Let buffers rotate over little memory: that of a server's caches takes most of the time of a measurement."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tuner.space.cpu.backend.CpuTuning.caches_bytes", lambda *_: 2**20)
        yield


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    cpu = resolve_device("cpu", among=list_devices(Probes(ProbeReport(), ProbeReport())))
    device = open_device(cpu)
    yield device
    device.close()


def planted(artifact: CpuArtifact, body: str) -> CpuArtifact:
    """The kernel with another body, and everything around as it was."""
    (step,) = artifact.launch.steps
    names = ["%A", "%B", "%C", "%workspace"][: len(step.parameters)]
    parameters = ", ".join(f"ptr {name}" for name in ("%pool", *names))
    text = f"{POOL}{AMX}\ndeclare void @abort()\ndefine i32 @{step.kernel}({parameters}) {{\nentry:\n{body}\n}}\n"
    return replace(artifact, launch=replace(artifact.launch, binary=emit_object(optimise(text, ()), ())))


@dataclass
class Made:
    """A compilation that has ended."""

    artifact: AnyArtifact

    def result(self) -> AnyArtifact:
        return self.artifact

    def cancel(self) -> None: ...


@dataclass
class Planting:
    """Compiles, and plants the faults into every other kernel, the first of a job being right."""

    bodies: tuple[str, ...]
    workers: int = 1
    busy_s: float = 0.0
    made: list[KernelConfig] = field(default_factory=list)

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Made:
        assert isinstance(config, CpuConfig)
        artifact = compile_cpu_gemm(problem, config, spec)
        self.made.append(config)
        place, right = divmod(len(self.made), 2)
        return Made(artifact if right or place > len(self.bodies) else planted(artifact, self.bodies[place - 1]))


@pytest.mark.parametrize("name", FAULTS)
def test_a_kernel_that_is_wrong_is_an_outcome(device: Device, name: str) -> None:
    body, status, said = FAULTS[name]
    artifact = planted(compile_cpu_gemm(PROBLEM, default_cpu_config(PROBLEM, SPEC), SPEC), body)
    bench = Bench(PROBLEM, SPEC, device, Reference(PROBLEM, 3))
    limits = Limits(all_s=60, run_s=0.5 if status is Status.TIMED_OUT else 60)
    outcome, _ = evaluate(bench, Unexamined(Made(artifact)), limits)
    assert outcome.status is status, outcome.reason
    assert said in (outcome.reason or "")


@pytest.mark.slow
def test_a_device_process_that_is_killed_in_the_middle_of_a_run_is_a_crash_and_the_next_run_works() -> None:
    device = ProcessDevice(SPEC, NATIVE)
    right = compile_cpu_gemm(PROBLEM, default_cpu_config(PROBLEM, SPEC), SPEC)
    bench, limits = Bench(PROBLEM, SPEC, device, Reference(PROBLEM, 3)), Limits(all_s=60, run_s=60)
    try:
        assert evaluate(bench, Unexamined(Made(right)), limits)[0].status is Status.MEASURED
        assert device.pid is not None
        threading.Timer(0.5, os.kill, (device.pid, signal.SIGKILL)).start()
        outcome, _ = evaluate(bench, Unexamined(Made(planted(right, ENDLESS))), limits)
        assert (outcome.status, "SIGKILL" in (outcome.reason or "")) == (Status.CRASHED, True), outcome.reason
        assert evaluate(bench, Unexamined(Made(right)), limits)[0].status is Status.MEASURED
        assert device.restarts == 1
    finally:
        device.close()


@pytest.mark.slow
def test_a_job_goes_on_after_each_status(device: Device) -> None:
    each = {status: body for body, status, _ in FAULTS.values() if status is not Status.TIMED_OUT}
    bodies = tuple(each.values())
    store = MemoryTrialStore()
    result = run_session(
        JobSpec(problem=PROBLEM, device=SPEC, budget=Budget(2 * len(bodies), 300.0), seed=3),
        device,
        store,
        Planting(bodies),
    )
    assert result.trials == dict.fromkeys(each, 1) | {Status.MEASURED: len(bodies)}
    assert result.best is not None
    assert result.best.outcome is not None
    assert result.best.outcome.status is Status.MEASURED
