"""Judgement of a random GEMM: compile it, check it with other tools where installed, compare its numbers."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from codegen import CodegenError, GemmArtifact, GemmProblem, InvalidLaunch, compile_gemm
from codegen.artifact.launch import kernel_for
from codegen.target import target_of
from codegen.xe.isa import (
    Ocloc,
    check_scoreboard,
    compile_native,
)
from hal import DeviceSpec, find
from tests.codegen.xe.build.coverage import VERIFIED, WRONG, Case
from tests.codegen.xe.build.draws import Draw
from tests.codegen.xe.build.problems import other_sizes
from tests.codegen.xe.validator import invalid
from tuner.errors import ProofFailed
from tuner.session.trial import ProofKind
from tuner.verify.verify import verify_by_simulation

_TRIES = 6
_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of a check; `fault` is empty if it passed."""

    fault: str


def judge(drawn: Draw, ocloc: Ocloc | None = None, by_validator: bool = True) -> Verdict:
    """Compile a random GEMM, validate its SPIR-V, run Intel's compiler if given, and compare its numbers.

    What Intel's compiler makes is executed, else the LLVM IR; what is not represented of it is a fault.
    """
    at, compiled = "", None
    try:
        artifact = compile_gemm(drawn.problem, drawn.config, find(drawn.device))
        fault = invalid(artifact.stage("spirv").data) if by_validator else ""
        if ocloc is not None:
            spirv, options = artifact.stage("spirv").data, artifact.launch.build_options
            code = compile_native(ocloc, spirv, target_of(find(drawn.device)), options)
            check_scoreboard(code)
            compiled = code.compiled
        proof = verify_by_simulation(artifact, drawn.seed, time_limit_s=_LIMIT_S, compiled=compiled)
        if compiled is not None and proof.kind is not ProofKind.MACHINE_CODE:
            return Verdict("the interpreter does not represent all of the machine code")
        for other in _other_sizes(artifact, drawn):
            at = f"at {other}: "
            verify_launched_for(artifact, other, find(drawn.device))
        return Verdict(fault)
    except (CodegenError, ProofFailed) as error:
        return Verdict(f"{at}{type(error).__name__}: {error}")


def verify_launched_for(artifact: GemmArtifact, other: GemmProblem, spec: DeviceSpec) -> None:
    """Compare the numbers of a dynamic kernel at other sizes."""
    verify_by_simulation(kernel_for(artifact, other, spec), time_limit_s=_LIMIT_S)


def _other_sizes(artifact: GemmArtifact, drawn: Draw) -> Iterator[GemmProblem]:
    """Yield one other size of a dynamic problem that meets the kernel's assumptions, if one is found."""
    rng = Random(drawn.seed)
    for _ in range(_TRIES if drawn.problem.dynamic else 0):
        other = other_sizes(rng, drawn.problem)
        try:
            kernel_for(artifact, other, find(drawn.device))
        except InvalidLaunch:
            continue
        yield other
        return


def cell_of(case: Case) -> tuple[str, str]:
    """Return a case's cell of the coverage page and its fault."""
    if (refused := case.refusal()) is not None:
        return refused.rule, ""
    fault = judge(Draw(0, case.device, case.problem, case.config, Counter())).fault
    return (WRONG if fault else VERIFIED), fault
