"""Small kernels show which register modes, types and features work on a device, and which fallback works instead."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from codegen import CpuConfig, DType, GemmProblem, KernelConfig, SlmOperands, XeConfig
from codegen.backend import check_kernel
from hal import Buffer, DeviceSpec, HalError, KernelBuildFailed, LaunchSpec, find
from hal.driver.acceptance import Acceptance, KernelAttributes
from hal.probe.findings import Finding, State
from tests.tuner.any_problem import AnyProblem, Compiler, Fault
from tests.tuner.fakes import cpu_spec, emulated
from tuner.measure.kernel_checks import (
    ACCEPT,
    CPU_CHECKS,
    GPU_CHECKS,
    CheckedKernel,
    Ran,
    by_acceptor,
    check_kernels,
    config_of,
    on_device,
)
from tuner.space.restrictions import Restriction

GPUS = ("b580", "a770", "meteor-lake-h")
OTHERS = ("max1100", "lunar-lake", "panther-lake-12xe", "arrow-lake-h", "b65")


def _works(*_: object) -> None:
    return None


def kernels_of(spec: DeviceSpec, fault: Fault = _works) -> dict[str, CheckedKernel]:
    compiler = Compiler()
    found = list(check_kernels(spec, on_device(AnyProblem(spec, compiler, fault), compiler)))
    assert {kernel.finding.subject for kernel in found} == {spec.id}
    return {kernel.finding.check: kernel for kernel in found}


def checked(spec: DeviceSpec, fault: Fault = _works) -> dict[str, Finding]:
    return {check: kernel.finding for check, kernel in kernels_of(spec, fault).items()}


def test_every_kernel_of_a_gpu_that_works_is_verified_and_timed() -> None:
    findings = checked(find("b580"))
    assert list(findings) == [f"gemm-{check.name}" for check in GPU_CHECKS]
    assert {(finding.state, finding.remedy) for finding in findings.values()} == {(State.OK, "")}
    first = findings["gemm-registers-128"].found
    assert first.startswith("f16 to f32, DPAS, 2-D loads, 128 registers: ")
    assert " tiles verified, " in first
    assert re.search(r", [\d,]+\.\d us$", first), "without an exponent, however long it takes"
    assert findings["gemm-slm-barrier"].found.startswith("f16 to f32, DPAS, 2-D loads, local memory with a barrier: ")


def _refuses_large_registers(_: GemmProblem, config: KernelConfig, __: DeviceSpec) -> HalError | None:
    assert isinstance(config, XeConfig)
    return KernelBuildFailed("no such mode") if config.strategy.grf_mode == 256 else None


def _spoils_s8(problem: GemmProblem, *_: object) -> Callable[[Buffer], None] | None:
    def spoil(c: Buffer) -> None:
        c[3, 5] += 1

    return spoil if problem.dtype_a.value == "s8" else None


def test_a_kernel_that_fails_takes_the_fallback_that_works() -> None:
    kernels = kernels_of(find("b580"), _refuses_large_registers)
    assert kernels["gemm-registers-128"].finding.state is State.OK
    failed = kernels["gemm-registers-256"]
    assert (failed.finding.state, failed.fallback) == (State.WARNING, (Restriction.NO_GRF_256,))
    assert failed.finding.remedy == "it works with the fallback: 128 registers only"
    assert failed.finding.found == "f16 to f32, DPAS, 2-D loads, 256 registers: compile_failed, no such mode"
    assert kernels["gemm-slm-barrier"].finding.state is State.OK, "it is run with the fallback"


@pytest.mark.slow
def test_block_loads_are_left_out_where_no_register_mode_works_with_them() -> None:
    def refuses_block_loads(_: GemmProblem, __: KernelConfig, spec: DeviceSpec) -> HalError | None:
        return KernelBuildFailed("no such message") if spec.block2d else None

    kernels = kernels_of(find("b580"), refuses_block_loads)
    failed = kernels["gemm-registers-128"]
    assert (failed.finding.state, failed.fallback) == (State.WARNING, (Restriction.NO_BLOCK2D,))
    others = [kernel.finding for check, kernel in kernels.items() if check != "gemm-registers-128"]
    assert all(finding.state is State.OK and "loads by lanes" in finding.found for finding in others)


def test_bf16_is_converted_by_integers_where_its_instructions_fail() -> None:
    def lacks_conversions(problem: GemmProblem, _: KernelConfig, spec: DeviceSpec) -> HalError | None:
        fails = problem.dtype_c is DType.BF16 and spec.bf16_conversions is not False
        return KernelBuildFailed("it lacks them") if fails else None

    found = kernels_of(find("b580"), lacks_conversions)
    assert found["gemm-bf16-output"].fallback == (Restriction.NO_BF16_CONVERSIONS,)
    assert found["gemm-bf16-output"].finding.state is State.WARNING


def test_types_that_fail_with_each_fallback_are_refused() -> None:
    kernels = kernels_of(find("b580"), _spoils_s8)
    failed = {check: kernel for check, kernel in kernels.items() if kernel.fallback}
    assert list(failed) == ["gemm-s8"]
    finding = failed["gemm-s8"].finding
    assert (finding.state, failed["gemm-s8"].fallback) == (State.FAULT, (Restriction.NO_BYTES,))
    assert "wrong_result, " in finding.found
    assert finding.remedy == "no fallback of these types works: use f16 or bf16"


def _runs_nothing(*_: object) -> Ran:
    return Ran(False, "it is gone")


@pytest.mark.slow
def test_a_device_that_runs_nothing_has_no_fallback() -> None:
    found = list(check_kernels(find("b580"), _runs_nothing))
    assert {(kernel.finding.state, kernel.fallback) for kernel in found} == {(State.FAULT, ())}
    other_type = "no fallback works: no kernel of another type works either"
    assert [kernel.finding.remedy for kernel in found] == [
        *["no fallback works: install another driver"] * 2,
        *[other_type] * 2,
        "no fallback works: install another driver",
    ]


def test_a_kernel_that_fails_once_takes_no_fallback() -> None:
    tries: list[KernelConfig] = []

    def fails_once(_: GemmProblem, config: KernelConfig, __: DeviceSpec) -> Ran:
        tries.append(config)
        return Ran(len(tries) > 1, "timed out")

    first, *others = check_kernels(find("b580"), fails_once)
    assert (first.finding.state, first.fallback) == (State.WARNING, ())
    assert first.finding.remedy == "it works at the second try: run doctor again"
    assert tries[0] == tries[1]
    assert all(kernel.finding.state is State.OK for kernel in others)


@pytest.mark.parametrize("device", ["a770", "arrow-lake-h"])
@pytest.mark.slow
def test_local_memory_that_fails_costs_no_type_and_no_register_mode(device: str) -> None:
    def fails_in_slm(_: GemmProblem, config: KernelConfig, __: DeviceSpec) -> Ran:
        assert isinstance(config, XeConfig)
        return Ran(config.strategy.slm is SlmOperands.NONE, "wrong result")

    found = list(check_kernels(find(device), fails_in_slm))
    assert [kernel.fallback for kernel in found if kernel.fallback] == [(Restriction.NO_SLM,)]
    assert all(kernel.finding.state is not State.FAULT for kernel in found)


class Driver:
    """A driver that accepts what `refuses` gives no reason against."""

    def __init__(self, refuses: Callable[[], HalError | None]) -> None:
        self._refuses = refuses

    def accept(self, launch: LaunchSpec, timeout_s: float) -> Acceptance:
        if (reason := self._refuses()) is not None:
            raise reason
        return Acceptance("26.27", "bmg", "", (KernelAttributes("gemm", 0, 64, 0, None, 16, 1024),))


def test_a_driver_accepts_each_kernel_or_says_why_not() -> None:
    compiler = Compiler()

    def refuses() -> HalError | None:
        is_s8 = compiler.made[-1].problem.dtype_a is DType.S8
        return KernelBuildFailed("no such type") if is_s8 else None

    found = [k.finding for k in check_kernels(find("b580"), by_acceptor(Driver(refuses), compiler), ACCEPT)]
    assert [finding.check for finding in found] == [f"accept-{check.name}" for check in GPU_CHECKS]
    assert [finding.check for finding in found if finding.state is not State.OK] == ["accept-s8"]
    assert found[0].found.endswith(", 128 registers: accepted by the driver 26.27, 64 bytes spilled")
    assert found[3].found == "s8 to i32, DPAS, 2-D loads: no such type"


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
    small = replace(find("b580"), grf_modes=(128,), threads_per_eu_by_grf_mode=(8,))
    findings = checked(small)
    assert findings["gemm-registers-256"].state is State.NOTE
    assert "not for this device, rule " in findings["gemm-registers-256"].found
