"""Model of a program for the templates: operands, sizes, steps and epilogue of a kernel."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from codegen import Axis, DType, EpilogueKind, GemmProblem, InvalidConfig, InvalidProblem, KernelConfig, XeConfig
from codegen.backend import AnyBackend, backend_of
from codegen.problem.gemm import GROUP_AXIS, OFFSETS, SCALE_B, ZERO_B, Operand
from codegen.xe.workspace import scratch_formulas
from db.schema.kernel import Artifact as ArtifactRow
from db.schema.kernel import Kernel as KernelRow
from service.api.hostcode.formulas import (
    Assumption,
    UnknownFormula,
    assumption,
    expression,
)
from service.api.hostcode.manifest import (
    Argument,
    Manifest,
    Parameter,
    Step,
    read_manifest,
)
from service.errors import Conflict
from service.gemm_json import config_from_json, problem_from_json


@dataclass(frozen=True, slots=True)
class HostOperand:
    """An operand as expressions of the sizes; `stride` is 0 if all matrices of a batch share one. Each of the experts
    has one if it is `of_experts`.
    """

    name: str
    role: str
    dtype: DType
    rows: str
    columns: str
    pitch: str
    stride: str
    seed: int
    fill: str
    """Initial contents: a, b (scaled so that results are about 1), codes of weights, scale of these, old, whole,
    factor, offsets, or none for an output.
    """
    of_experts: bool = False


@dataclass(frozen=True, slots=True)
class HostStep:
    """A kernel, its parameters as expressions or names of arguments, and its sizes as expressions."""

    kernel: str
    pointers: tuple[bool, ...]
    parameters: tuple[str, ...]
    global_size: tuple[str, ...]
    local_size: tuple[int, ...]
    once: bool


@dataclass(frozen=True, slots=True)
class EpilogueLine:
    """A step of the epilogue: its kind, constants, and operand."""

    number: int
    kind: str
    value: str
    high: str
    operand: str
    over: str
    """Axis of a reduction: n for a vector along rows, m for one along columns."""


@dataclass(frozen=True, slots=True)
class HostProgram:
    """Input of a template. `sizes` are names with the sizes that the kernel was tuned for, `tight` the packed
    strides as expressions for other m, n and k of a dynamic kernel. `extensions` are those of OpenCL that it needs.
    """

    kernel_id: UUID
    title: str
    problem: GemmProblem
    backend: AnyBackend
    emulated: bool
    binary: str
    sha256: str
    sizes: dict[str, int]
    tight: dict[str, str]
    operands: tuple[HostOperand, ...]
    scratch: dict[str, str]
    steps: tuple[HostStep, ...]
    epilogue: tuple[EpilogueLine, ...]
    assumptions: tuple[Assumption, ...]
    opencl_options: str
    level_zero_options: str
    extensions: tuple[str, ...]
    threads: int

    @property
    def c(self) -> HostOperand:
        """The operand C."""
        return self.operands[2]

    @property
    def written(self) -> tuple[str, ...]:
        """Return the names of the arguments that a launch writes."""
        return *(operand.name for operand in self.operands if operand.role != "input"), *self.scratch

    @property
    def sums(self) -> tuple[EpilogueLine, ...]:
        """The steps that reduce to additional outputs."""
        return tuple(line for line in self.epilogue if line.kind == EpilogueKind.REDUCE.value)


def program_of(kernel: KernelRow) -> HostProgram:
    """Return the program of a stored kernel.

    Raises:
        Conflict: this version cannot read the kernel, or its binary is missing.
    """
    try:
        problem, config = problem_from_json(kernel.problem.definition), config_from_json(kernel.config)
    except (InvalidProblem, InvalidConfig) as error:
        raise Conflict(f"no host code can be written: {error}", rule="host-code-manifest") from error
    manifest = read_manifest(kernel.manifest)
    emulated = kernel.device.emulates is not None and kernel.device.kind == "cpu"
    backend = backend_of(config)
    binary = _binary(kernel, backend, emulated=emulated)
    sizes = _sizes(problem)
    names = frozenset(sizes)
    _check_operands(problem, manifest)
    try:
        return HostProgram(
            kernel_id=kernel.id,
            title=str(problem),
            problem=problem,
            backend=backend,
            emulated=emulated,
            binary=binary.name,
            sha256=binary.sha256,
            sizes=sizes,
            tight=_tight(problem),
            operands=tuple(_operand(problem, place, operand) for place, operand in enumerate(problem.operands)),
            scratch=_scratch(problem, config, manifest, names),
            steps=tuple(_step(problem, step, manifest.arguments, names) for step in manifest.steps),
            epilogue=tuple(_epilogue(problem)),
            assumptions=_assumptions(manifest, names) if problem.dynamic else (),
            # Emulated built-ins have no registers of a GPU.
            opencl_options="" if emulated else manifest.build_options.opencl,
            level_zero_options="" if emulated else manifest.build_options.level_zero,
            extensions=() if emulated else tuple(manifest.driver_needs.opencl_extensions),
            threads=manifest.threads or 1,
        )
    except UnknownFormula as error:
        raise Conflict(f"no host code can be written: {error}", rule="host-code-manifest") from error


def _binary(kernel: KernelRow, backend: AnyBackend, *, emulated: bool) -> ArtifactRow:
    """Return the binary of a launch: on a CPU that emulates a GPU, the one that includes the built-ins."""
    name = "emulated.spv" if emulated else backend.binary
    found = next((artifact for artifact in kernel.artifacts if artifact.name == name), None)
    if found is None or not re.fullmatch("[0-9a-f]{64}", found.sha256):
        raise Conflict(
            f"kernel {kernel.id} came without {name}, so no host code can run it: tune the problem here",
            rule="host-code-binary",
        )
    return found


def _sizes(problem: GemmProblem) -> dict[str, int]:
    p = problem
    sizes = {"m": p.m, "n": p.n, "k": p.k, "batch": p.batch}
    if p.experts is not None:
        sizes["experts"] = p.experts
    for operand in _matrices(p):
        sizes[f"ld{operand.name.lower()}"] = operand.pitch
    for operand in _matrices(p):
        sizes[f"batch_stride_{operand.name.lower()}"] = operand.batch_stride
    return sizes


def _tight(problem: GemmProblem) -> dict[str, str]:
    """Return the strides of rows and matrices of packed operands."""
    tight = {f"ld{operand.name.lower()}": _sides(problem, operand)[1] for operand in _matrices(problem)}
    for operand in _matrices(problem):
        name, (rows, _) = operand.name.lower(), _sides(problem, operand)
        tight[f"batch_stride_{name}"] = f"{rows} * ld{name}" if operand.batch_stride else "0"
    return tight


def _sides(problem: GemmProblem, operand: Operand) -> tuple[str, str]:
    """Return the stored rows and columns of an operand as expressions; those along K or groups may be words."""
    group = None if problem.quantization is None else problem.quantization.group
    packed = operand.dtype.packed
    named = {GROUP_AXIS: "1" if group is None else f"ceil_div(k, {group})", "expert": "experts + 1", "": "1"}
    rows, columns = (named.get(axis, axis) for axis in operand.axes)
    if packed > 1 and operand.axes[1] == "k":
        return rows, f"ceil_div({columns}, {packed})"
    return (rows, columns) if packed == 1 else (f"ceil_div({rows}, {packed})", columns)


def _matrices(problem: GemmProblem) -> list[Operand]:
    return [operand for operand in problem.operands if not operand.is_vector]


def _check_operands(problem: GemmProblem, manifest: Manifest) -> None:
    """Check that the launch takes the operands of the problem, in order, then scratch buffers."""
    expected = [(o.name, o.role, o.dtype) for o in problem.operands]
    got = [(a.name, a.role, a.dtype) for a in manifest.arguments if a.role != "scratch"]
    if got != expected or any(
        p.argument is not None and p.argument >= len(manifest.arguments) for p in _used(manifest)
    ):
        raise Conflict(
            f"no host code can be written: the launch takes {[name for name, *_ in got]}, the problem has "
            f"{[name for name, *_ in expected]}",
            rule="host-code-manifest",
        )


def _used(manifest: Manifest) -> list[Parameter]:
    return [parameter for step in manifest.steps for parameter in step.parameters]


def _operand(problem: GemmProblem, place: int, operand: Operand) -> HostOperand:
    name = operand.name.lower()
    rows, columns = _sides(problem, operand)
    if operand.is_vector:
        pitch, stride = columns, "0" if operand.batch_stride == 0 else f"{rows} * {columns}"
    else:
        pitch, stride = f"ld{name}", f"batch_stride_{name}"
    fill = _fill(problem, place, operand)
    sizes, of_experts = (rows, columns, pitch, stride), operand.experts > 1
    return HostOperand(operand.name, operand.role, operand.dtype, *sizes, place + 1, fill, of_experts)


def _fill(problem: GemmProblem, place: int, operand: Operand) -> str:
    if operand.name == OFFSETS:
        return "offsets"
    if place == 0:
        return "a"
    if operand.role != "input":
        return "old" if operand.role == "inout" else "none"
    if operand.name == SCALE_B:
        return "scale"
    if operand.name in ("B", ZERO_B):
        return "codes" if problem.has_weights else "b"
    assert operand.step is not None  # it is one of the epilogue
    kind = problem.epilogue[operand.step].kind
    return "factor" if kind in (EpilogueKind.SCALE, EpilogueKind.MULTIPLY) else "whole"


def _scratch(problem: GemmProblem, config: KernelConfig, manifest: Manifest, names: frozenset[str]) -> dict[str, str]:
    """Return the bytes of each scratch buffer; of a dynamic kernel as expressions."""
    formulas = scratch_formulas(problem, config) if problem.dynamic and isinstance(config, XeConfig) else {}
    return {
        a.name: expression(formulas.get(a.name, str(a.bytes)), names) for a in manifest.arguments if a.role == "scratch"
    }


def _step(problem: GemmProblem, step: Step, arguments: Sequence[Argument], names: frozenset[str]) -> HostStep:
    parameters: list[str] = []
    for parameter in step.parameters:
        if parameter.argument is not None:
            parameters.append(arguments[parameter.argument].name)
        elif parameter.scalar in names:
            parameters.append(str(parameter.scalar))
        else:
            raise UnknownFormula(f"kernel {step.kernel}: expected a size of the problem, got {parameter.scalar}")
    sizes = step.global_size_formula if problem.dynamic else [str(size) for size in step.global_size]
    if step.threads is not None and not step.kernel.startswith("xetune_"):
        raise UnknownFormula(f"expected a function of this program's, got {step.kernel}")
    if step.threads is None and (len(sizes) != 3 or len(step.local_size) != 3):
        raise UnknownFormula(f"kernel {step.kernel}: expected global and local sizes in three dimensions")
    return HostStep(
        step.kernel,
        tuple(parameter.argument is not None for parameter in step.parameters),
        tuple(parameters),
        tuple(expression(size, names) for size in sizes),
        tuple(step.local_size),
        step.once,
    )


def _epilogue(problem: GemmProblem) -> list[EpilogueLine]:
    operands = {operand.step: operand.name for operand in problem.operands if operand.step is not None}
    return [
        EpilogueLine(
            number,
            step.kind.value,
            "" if step.value is None else repr(float(step.value)),
            "" if step.high is None else repr(float(step.high)),
            operands.get(number, ""),
            "n" if step.axis is Axis.ROW else "m",
        )
        for number, step in enumerate(problem.epilogue)
    ]


def _assumptions(manifest: Manifest, names: frozenset[str]) -> tuple[Assumption, ...]:
    words = dict.fromkeys(text for texts in manifest.assumes.values() for text in texts or [])
    found = (assumption(text, names) for text in words)
    return tuple(each for each in found if each is not None)
