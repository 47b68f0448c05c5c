"""Small kernels that show whether a device runs what jobs need, each with what to do where it does not."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from codegen import DType, GemmProblem, KernelConfig, Refused, SlmOperands, XeConfig
from codegen.backend import check_kernel
from hal import Device, DeviceSpec, lacks_dpas, runs_own_code
from hal.probe.findings import Finding, State
from tuner.backend import tuning_for
from tuner.measure.isa_check import Unexamined
from tuner.measure.measure import Bench, Compiler, Limits, evaluate
from tuner.session.trial import Outcome, Status
from tuner.verify.reference import Reference

CHECK = "gemm-"
"""Prefix of the names of the checks."""

_LIMIT_S = 60.0
_SEED = 1
_M, _N, _K = 256, 192, 320


def _problem(a: DType, acc: DType, c: DType) -> GemmProblem:
    return GemmProblem(_M, _N, _K, dtype_a=a, dtype_b=a, dtype_acc=acc, dtype_c=c)


_F16 = _problem(DType.F16, DType.F32, DType.F32)
_BF16 = _problem(DType.BF16, DType.F32, DType.BF16)
_S8 = _problem(DType.S8, DType.I32, DType.I32)
_F32 = _problem(DType.F32, DType.F32, DType.F32)


@dataclass(frozen=True, slots=True)
class KernelCheck:
    """A kernel: its name, problem, fields of the strategy that differ from the default, and what remains without it."""

    name: str
    problem: GemmProblem
    fallback: str
    strategy: Mapping[str, object] = field(default_factory=dict[str, object])


GPU_CHECKS = (
    KernelCheck("registers-128", _F16, "set grf_mode=256", {"grf_mode": 128}),
    KernelCheck("registers-256", _F16, "set grf_mode=128", {"grf_mode": 256}),
    KernelCheck("bf16-output", _BF16, "bf16 inputs with f32 output, or f16"),
    KernelCheck("s8", _S8, "f16 or bf16"),
    KernelCheck("slm-barrier", _F16, "set slm=none", {"slm": SlmOperands.BOTH, "slm_stages": 2}),
)
"""Kernels for GPUs: both register modes, f16, bf16 and s8, output in bf16, local memory with a barrier."""

CPU_CHECKS = (
    KernelCheck("f32", _F32, "none: kernels need AVX2 with FMA"),
    KernelCheck("bf16", _BF16, "f32"),
    KernelCheck("s8", _S8, "f32"),
)
"""Kernels that a CPU runs itself."""


def check_kernels(spec: DeviceSpec, device: Device, compiler: Compiler) -> Iterator[Finding]:
    """Compile, run, verify and time each kernel on a device; yield a finding for each."""
    for check in CPU_CHECKS if runs_own_code(spec) else GPU_CHECKS:
        name, uses = f"{CHECK}{check.name}", _uses(check, spec)
        try:
            config = config_of(check, spec)
        except Refused as refusal:
            yield Finding(name, spec.id, State.NOTE, f"{uses}: not for this device, rule {refusal.rule}")
            continue
        bench = Bench(check.problem, spec, device, Reference(check.problem, _SEED))
        candidate = Unexamined(compiler.compile(check.problem, config, spec))
        outcome, _ = evaluate(bench, candidate, Limits(_LIMIT_S, _LIMIT_S))
        yield _finding(name, spec, uses, outcome, check.fallback)


def config_of(check: KernelCheck, spec: DeviceSpec) -> KernelConfig:
    """Return the configuration of a check: the default of the device with the fields that the check sets.

    Raises:
        Refused: the problem or the configuration is not legal on the device.
    """
    tuning = tuning_for(spec)
    config = tuning.default(check.problem, spec)
    if check.strategy:
        assert isinstance(config, XeConfig)  # only checks of GPUs set fields
        strategy = replace(config.strategy, **check.strategy)  # pyright: ignore[reportArgumentType]
        config = tuning.refit(check.problem, replace(config, strategy=strategy), spec, set(check.strategy))
    check_kernel(check.problem, config, spec)
    return config


def _uses(check: KernelCheck, spec: DeviceSpec) -> str:
    p = check.problem
    types = f"{p.dtype_a.value} to {p.dtype_c.value}"
    if runs_own_code(spec):
        return types
    multiply = "multiply-add" if lacks_dpas(spec) else "DPAS"
    loads = "2-D loads" if spec.block2d else "loads by lanes"
    special = {"grf_mode": f", {check.strategy.get('grf_mode')} registers", "slm": ", local memory with a barrier"}
    return f"{types}, {multiply}, {loads}{''.join(text for name, text in special.items() if name in check.strategy)}"


def _finding(name: str, spec: DeviceSpec, uses: str, outcome: Outcome, fallback: str) -> Finding:
    if outcome.status is not Status.MEASURED or outcome.time_us is None:
        return Finding(name, spec.id, State.FAULT, f"{uses}: {outcome.status.value}, {outcome.reason}", fallback)
    proof, how = outcome.proof, "" if spec.emulates is None else ", DPAS emulated"
    found = f"{uses}: {proof.checked} of {proof.total} tiles verified, {outcome.time_us:.4g} us{how}"
    return Finding(name, spec.id, State.OK, found)
