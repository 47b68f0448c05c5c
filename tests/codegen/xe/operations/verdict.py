"""Check of a kernel at one level: parse, verify, compile, interpret, run in the simulator and compare."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from xdsl.utils.exceptions import ParseError, VerifyException

from codegen import KernelArtifact, compile_module
from codegen.errors import CodegenError, CompileFailed, Refused
from codegen.simulate import Execute
from codegen.simulate.run_module import simulate_module
from codegen.xe.dialects import (
    parse,
    text,
)
from hal import DeviceSpec
from tests.codegen.upstream import check_upstream
from tests.codegen.xe.operations.arguments import Argument, arguments, signature
from tests.codegen.xe.operations.case import Case, Level
from tests.oracle import interpret


class Step(StrEnum):
    """Steps of the check, in order."""

    PARSE = "parse"
    VERIFY = "verify"
    COMPILE = "compile"
    INTERPRET = "interpret"
    COMPARE = "compare"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The step at which a kernel failed, and its fault; None and an empty message if it passed all.

    `artifact` is the compiled kernel, None if it does not compile.
    """

    failed: Step | None = None
    fault: str = ""
    artifact: KernelArtifact | None = None

    def passes(self, step: Step) -> bool:
        """Return whether the kernel passed a step."""
        order = list(Step)
        return self.failed is None or order.index(step) < order.index(self.failed)


Execution = Callable[[KernelArtifact], Execute]


def judge(
    case: Case, level: Level, spec: DeviceSpec, execution: Execution | None = None, known: Verdict | None = None
) -> Verdict:
    """Take a case through all steps; its numbers must be the interpreter's.

    `execution` returns what runs the kernel, by default its LLVM IR. `known` is the verdict for a GPU with sub-groups
    of the same size: it holds for the same LLVM IR.
    """
    source = case.sources[level]
    try:
        module = parse(source)
        if text(parse(text(module))) != text(module):
            return Verdict(Step.PARSE, "it is not printed as it is parsed")
    except ParseError as error:
        return Verdict(Step.PARSE, str(error))
    try:
        module.verify()
    except VerifyException as error:
        return Verdict(Step.VERIFY, str(error))
    try:
        artifact = compile_module(source, spec)
        check_upstream(artifact)
    except (CompileFailed, Refused) as error:
        return Verdict(Step.COMPILE, str(error))
    expected = arguments(case, source)
    try:
        interpret(module, "k", (case.groups, 1, 1), expected, case.block(level))
    except CodegenError as error:
        return Verdict(Step.INTERPRET, str(error), artifact)
    if known is not None and known.artifact is not None and _llvm(known.artifact) == _llvm(artifact):
        return replace(known, artifact=artifact)
    fault = _simulated(case, level, artifact, expected, execution)
    return Verdict(Step.COMPARE if fault else None, fault, artifact)


def _llvm(artifact: KernelArtifact) -> bytes:
    return artifact.stage("llvm").data


def _simulated(
    case: Case, level: Level, artifact: KernelArtifact, expected: list[Argument], execution: Execution | None
) -> str:
    """Return the first difference of the simulator's numbers from the expected ones; empty if there is none."""
    source = case.sources[level]
    before, after = arguments(case, source), arguments(case, source)
    if all(np.array_equal(e, b) for e, b in zip(expected, before, strict=True)):
        return "the kernel changes nothing, so nothing was compared"
    try:
        execute = None if execution is None else execution(artifact)
        simulate_module(artifact, "k", (case.groups, 1, 1), case.block(level), after, execute)
    except CodegenError as error:
        return str(error)
    for (name, type_), wanted, got in zip(signature(source), expected, after, strict=True):
        bf16 = "bf16" in type_
        fault = _difference(_numbers(wanted, bf16=bf16), _numbers(got, bf16=bf16), case.tolerance)
        if fault:
            return f"{name}{fault}"
    return ""


def _difference(wanted: NDArray[np.float64], got: NDArray[np.float64], tolerance: float) -> str:
    close = np.isclose(got, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)
    if close.all():
        return ""
    at = tuple(map(int, np.argwhere(~close)[0]))
    return f"{list(at)}: expected {wanted[at]}, got {got[at]}; {np.sum(~close)} of {close.size} differ"


def _numbers(value: Argument, *, bf16: bool) -> NDArray[np.float64]:
    array = np.asarray(value)
    if bf16 and array.ndim:
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float64)
