"""Small kernels that show whether a device runs what jobs need, and the fallbacks that work where it does not."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from codegen import CompileFailed, DType, GemmProblem, KernelConfig, Refused, SlmOperands, XeConfig
from codegen.backend import check_kernel
from hal import Acceptor, Device, DeviceFailed, DeviceSpec, lacks_dpas, runs_own_code
from hal.probe.findings import Finding, State
from tuner.backend import tuning_for
from tuner.measure.isa_check import Unexamined
from tuner.measure.measure import ACCEPT_S, Bench, Compiler, Limits, evaluate
from tuner.session.trial import Status
from tuner.space.restrictions import REFUSED_TYPES, Restriction, restrict_device
from tuner.verify.reference import Reference

CHECK, ACCEPT = "gemm-", "accept-"
"""Prefixes of the names of checks: of kernels that run, and of kernels that a driver accepts."""

_LIMIT_S = 60.0
_SEED = 1
_M, _N, _K = 256, 192, 320


def _problem(a: DType, acc: DType, c: DType) -> GemmProblem:
    return GemmProblem(_M, _N, _K, dtype_a=a, dtype_b=a, dtype_acc=acc, dtype_c=c)


_F16 = _problem(DType.F16, DType.F32, DType.F32)
_BF16 = _problem(DType.BF16, DType.F32, DType.BF16)
_S8 = _problem(DType.S8, DType.I32, DType.I32)
_F32 = _problem(DType.F32, DType.F32, DType.F32)


Fallback = tuple[Restriction, ...]
"""Restrictions that jobs take together in place of what failed."""


@dataclass(frozen=True, slots=True)
class KernelCheck:
    """A kernel: its name, problem, fallbacks in the order in which they are tried, what to do `instead` if none works,
    and the fields of the strategy that differ from the default.
    """

    name: str
    problem: GemmProblem
    fallbacks: tuple[Fallback, ...]
    instead: str
    strategy: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class CheckedKernel:
    """Finding about a kernel, and the fallback of a kernel that failed; empty if it works, or if none does."""

    finding: Finding
    fallback: Fallback = ()


@dataclass(frozen=True, slots=True)
class Ran:
    """End of one try of a kernel: whether it works, and what was found."""

    works: bool
    found: str


Runner = Callable[[GemmProblem, KernelConfig, DeviceSpec], Ran]
"""Tries a kernel that is legal on the device of that specification."""


_NO_BLOCK2D, _ANOTHER = Restriction.NO_BLOCK2D, "install another driver"
_NO_SLM = (Restriction.NO_SLM,)
GPU_CHECKS = (
    KernelCheck(
        "registers-128",
        _F16,
        ((Restriction.NO_GRF_128,), _NO_SLM, (_NO_BLOCK2D,), (_NO_BLOCK2D, Restriction.NO_GRF_128)),
        _ANOTHER,
        {"grf_mode": 128},
    ),
    KernelCheck(
        "registers-256",
        _F16,
        ((Restriction.NO_GRF_256,), _NO_SLM, (_NO_BLOCK2D,), (_NO_BLOCK2D, Restriction.NO_GRF_256)),
        _ANOTHER,
        {"grf_mode": 256},
    ),
    KernelCheck(
        "bf16-output", _BF16, ((Restriction.NO_BF16_CONVERSIONS,), _NO_SLM, (Restriction.NO_BF16,)), "f16 or f32"
    ),
    KernelCheck("s8", _S8, (_NO_SLM, (Restriction.NO_BYTES,)), "f16 or bf16"),
    KernelCheck("slm-barrier", _F16, (_NO_SLM,), _ANOTHER, {"slm": SlmOperands.BOTH, "slm_stages": 2}),
)
"""Kernels for GPUs: both register modes, f16, bf16 and s8, output in bf16, local memory with a barrier."""

_LESS = ((Restriction.NO_AMX,), (Restriction.NO_AVX512,))
CPU_CHECKS = (
    KernelCheck("f32", _F32, _LESS, "kernels need AVX2 with FMA"),
    KernelCheck("bf16", _BF16, (*_LESS, (Restriction.NO_BF16,)), "f32"),
    KernelCheck("s8", _S8, (*_LESS, (Restriction.NO_BYTES,)), "f32"),
)
"""Kernels that a CPU runs itself."""


def check_kernels(spec: DeviceSpec, run: Runner, prefix: str = CHECK) -> Iterator[CheckedKernel]:
    """Try each kernel of a device; yield what was found about each, under a name with the prefix.

    If a kernel fails twice, it is tried again with its fallbacks, until one works; the kernels after it are tried with
    that one. A type is refused only where a kernel of another type works.
    """
    any_works = False
    for check in CPU_CHECKS if runs_own_code(spec) else GPU_CHECKS:
        checked = _checked(check, f"{prefix}{check.name}", spec, run, any_works)
        yield checked
        any_works |= checked.finding.state in (State.OK, State.WARNING)
        spec = restrict_device(spec, checked.fallback)


def on_device(device: Device, compiler: Compiler) -> Runner:
    """Return the runner that compiles, runs, verifies and times kernels on a device."""

    def run(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Ran:
        bench = Bench(problem, spec, device, Reference(problem, _SEED))
        candidate = Unexamined(compiler.compile(problem, config, spec))
        outcome, _ = evaluate(bench, candidate, Limits(_LIMIT_S, _LIMIT_S))
        if outcome.status is not Status.MEASURED:
            return Ran(False, f"{outcome.status.value}, {outcome.reason}")
        proof, how = outcome.proof, "" if spec.emulates is None else ", DPAS emulated"
        return Ran(True, f"{proof.checked} of {proof.total} tiles verified, {outcome.time_us:,.1f} us{how}")

    return run


def by_acceptor(acceptor: Acceptor, compiler: Compiler) -> Runner:
    """Return the runner that compiles kernels and lets a driver accept them, which executes nothing."""

    def run(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Ran:
        try:
            artifact = compiler.compile(problem, config, spec).result()
            told = acceptor.accept(artifact.launch, ACCEPT_S)
        except (CompileFailed, DeviceFailed) as failure:
            return Ran(False, str(failure))
        spilled = sum(kernel.spill_bytes or 0 for kernel in told.kernels)
        return Ran(True, f"accepted by the driver {told.driver}{f', {spilled} bytes spilled' if spilled else ''}")

    return run


def _checked(check: KernelCheck, name: str, spec: DeviceSpec, run: Runner, any_works: bool) -> CheckedKernel:
    uses = _uses(check, spec)
    try:
        config = config_of(check, spec)
    except Refused as refusal:
        note = f"{uses}: not for this device, rule {refusal.rule}"
        return CheckedKernel(Finding(name, spec.id, State.NOTE, note))
    ran = run(check.problem, config, spec)
    found = f"{uses}: {ran.found}"
    if ran.works:
        return CheckedKernel(Finding(name, spec.id, State.OK, found))
    if run(check.problem, config, spec).works:
        return CheckedKernel(
            Finding(name, spec.id, State.WARNING, found, "it works at the second try: run doctor again")
        )
    for fallback in check.fallbacks:
        if fallback == _NO_SLM and not _stages_in_slm(config):
            continue
        effects = ", ".join(restriction.effect for restriction in fallback)
        if any(restriction in REFUSED_TYPES for restriction in fallback):
            if not any_works:
                break
            remedy = f"no fallback of these types works: use {check.instead}"
            return CheckedKernel(Finding(name, spec.id, State.FAULT, found, remedy), fallback)
        if _works_with(check, fallback, spec, run):
            remedy = f"it works with the fallback: {effects}"
            return CheckedKernel(Finding(name, spec.id, State.WARNING, found, remedy), fallback)
    instead = check.instead if any_works or check.instead == _ANOTHER else "no kernel of another type works either"
    return CheckedKernel(Finding(name, spec.id, State.FAULT, found, f"no fallback works: {instead}"))


def _stages_in_slm(config: KernelConfig) -> bool:
    return isinstance(config, XeConfig) and config.strategy.slm is not SlmOperands.NONE


def _works_with(check: KernelCheck, fallback: Fallback, spec: DeviceSpec, run: Runner) -> bool:
    """Return whether a kernel works with a fallback that changes it; its own fields are left out where they are
    excluded.
    """
    restricted = restrict_device(spec, fallback)
    if all(getattr(spec, fact.name) == fact.value for fact in restricted.facts()):
        return False
    for strategy in (check.strategy, {}):
        try:
            config = config_of(replace(check, strategy=strategy), restricted)
        except Refused:
            continue
        return run(check.problem, config, restricted).works
    return False


def config_of(check: KernelCheck, spec: DeviceSpec) -> KernelConfig:
    """Return the configuration of a check: the default of the device with the fields that the check sets.

    Raises:
        Refused: the problem or the configuration is not legal on the device.
    """
    tuning = tuning_for(spec)
    config = tuning.default(check.problem, spec)
    if check.strategy:
        assert isinstance(config, XeConfig)  # only checks of GPUs set fields
        strategy = replace(config.strategy, **check.strategy)
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
