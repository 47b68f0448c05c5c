"""Small kernels show which register modes, types and features work on a device; what does not names what remains."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from codegen import CpuConfig, GemmProblem, KernelConfig, XeConfig
from codegen.backend import check_kernel
from hal import Buffer, DeviceSpec, HalError, KernelBuildFailed, LaunchSpec, RunReport, Timing, find
from hal.probe.findings import Finding, State
from tests.tuner.fakes import FakeCompiler, FakeDevice, cpu_spec, emulated
from tuner.measure.kernel_checks import CPU_CHECKS, GPU_CHECKS, check_kernels, config_of

GPUS = ("b580", "a770", "meteor-lake-h")
OTHERS = ("max1100", "lunar-lake", "panther-lake-12xe", "arrow-lake-h", "b65")


class AnyProblem:
    """A device that runs whatever was compiled last; `fault` is asked for each configuration."""

    def __init__(
        self, spec: DeviceSpec, compiler: FakeCompiler, fault: Callable[[GemmProblem, KernelConfig], object]
    ) -> None:
        self.spec, self._compiler, self._fault = spec, compiler, fault

    def run(
        self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
    ) -> RunReport:
        last = self._compiler.made[-1]
        device = FakeDevice(last.problem, self.spec, every=self._fault(last.problem, last.config))  # pyright: ignore[reportArgumentType]
        return device.run(launch, buffers, timing, timeout_s)

    def close(self) -> None:
        pass


def checked(
    spec: DeviceSpec, fault: Callable[[GemmProblem, KernelConfig], object] = lambda *_: None
) -> dict[str, Finding]:
    compiler = FakeCompiler()
    device = AnyProblem(spec, compiler, fault)
    findings = list(check_kernels(spec, device, compiler))
    assert {finding.subject for finding in findings} == {spec.id}
    return {finding.check: finding for finding in findings}


def test_every_kernel_of_a_gpu_that_works_is_verified_and_timed() -> None:
    findings = checked(find("b580"))
    assert list(findings) == [f"gemm-{check.name}" for check in GPU_CHECKS]
    assert {(finding.state, finding.remedy) for finding in findings.values()} == {(State.OK, "")}
    first = findings["gemm-registers-128"].found
    assert first.startswith("f16 to f32, DPAS, 2-D loads, 128 registers: ")
    assert " tiles verified, " in first
    assert first.endswith(" us")
    assert findings["gemm-slm-barrier"].found.startswith("f16 to f32, DPAS, 2-D loads, local memory with a barrier: ")


def _refuses_large_registers(_: GemmProblem, config: KernelConfig) -> HalError | None:
    assert isinstance(config, XeConfig)
    return KernelBuildFailed("no such mode") if config.strategy.grf_mode == 256 else None


def _spoils_s8(problem: GemmProblem, _: KernelConfig) -> Callable[[Buffer], None] | None:
    def spoil(c: Buffer) -> None:
        c[3, 5] += 1

    return spoil if problem.dtype_a.value == "s8" else None


def test_a_kernel_that_fails_names_its_fallback() -> None:
    findings = checked(find("b580"), _refuses_large_registers)
    assert findings["gemm-registers-128"].state is State.OK
    failed = findings["gemm-registers-256"]
    assert (failed.state, failed.remedy) == (State.FAULT, "set grf_mode=128")
    assert failed.found == "f16 to f32, DPAS, 2-D loads, 256 registers: compile_failed, no such mode"


def test_wrong_numbers_are_a_fault() -> None:
    findings = checked(find("b580"), _spoils_s8)
    assert [name for name, finding in findings.items() if finding.state is State.FAULT] == ["gemm-s8"]
    assert "wrong_result, " in findings["gemm-s8"].found
    assert findings["gemm-s8"].remedy == "f16 or bf16"


def test_a_cpu_has_kernels_of_its_own() -> None:
    findings = checked(cpu_spec())
    assert list(findings) == [f"gemm-{check.name}" for check in CPU_CHECKS]
    assert all(finding.state is State.OK for finding in findings.values())
    assert findings["gemm-f32"].found.startswith("f32 to f32: ")


def test_emulated_kernels_say_so() -> None:
    assert all(finding.found.endswith("us, DPAS emulated") for finding in checked(emulated()).values())


@pytest.mark.parametrize(
    "spec",
    [
        *(pytest.param(spec, id=spec.id) for spec in (*map(find, GPUS), emulated())),
        *(pytest.param(find(id), id=id, marks=pytest.mark.slow) for id in OTHERS),
    ],
)
def test_each_check_is_legal_and_uses_what_it_names(spec: DeviceSpec) -> None:
    for check in GPU_CHECKS:
        config = config_of(check, spec)
        assert isinstance(config, XeConfig)
        check_kernel(check.problem, config, spec)
        for name, value in check.strategy.items():
            assert getattr(config.strategy, name) == value
    assert isinstance(config_of(CPU_CHECKS[0], cpu_spec()), CpuConfig)


def test_what_a_rule_refuses_is_no_fault() -> None:
    small = replace(find("b580"), grf_modes=(128,))
    findings = checked(small)
    assert findings["gemm-registers-256"].state is State.NOTE
    assert "not for this device, rule " in findings["gemm-registers-256"].found
