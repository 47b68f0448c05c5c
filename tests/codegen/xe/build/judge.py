"""What becomes of a drawn GEMM: compiled, checked by other tools where they are, and its numbers compared."""

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from codegen import CodegenError, GemmArtifact, GemmProblem, InvalidLaunch, compile_gemm
from codegen.artifact.launch import kernel_for
from codegen.target import target_of
from codegen.xe.isa import (
    Ocloc,
    compile_native,
)
from hal import DeviceSpec, find
from tests.codegen.xe.build.coverage import VERIFIED, WRONG, Case
from tests.codegen.xe.build.draws import Draw
from tests.codegen.xe.build.problems import other_sizes
from tuner.errors import ProofFailed
from tuner.verify.verify import verify_by_simulation

_SPIRV_VAL = shutil.which("spirv-val")
_TOO_NEW = "Invalid capability operand"  # a validator older than Intel's extensions cannot read a module that has them
_TRIES = 6
_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What went wrong: nothing if empty."""

    fault: str


def judge(drawn: Draw, ocloc: Ocloc | None = None, by_validator: bool = True) -> Verdict:
    """Compile a draw, validate its SPIR-V, ask Intel's compiler if there is one, and compare its numbers."""
    at = ""
    try:
        artifact = compile_gemm(drawn.problem, drawn.config, find(drawn.device))
        fault = invalid(artifact) if by_validator else ""
        if ocloc is not None:
            spirv, options = artifact.stage("spirv").data, artifact.launch.build_options
            compile_native(ocloc, spirv, target_of(find(drawn.device)), options)
        verify_by_simulation(artifact, drawn.seed, time_limit_s=_LIMIT_S)
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
    """Of a dynamic problem other sizes, if some are found on which its kernel may rely."""
    rng = Random(drawn.seed)
    for _ in range(_TRIES if drawn.problem.dynamic else 0):
        other = other_sizes(rng, drawn.problem)
        try:
            kernel_for(artifact, other, find(drawn.device))
        except InvalidLaunch:
            continue
        yield other
        return


def invalid(artifact: GemmArtifact) -> str:
    """What the SPIR-V validator says against the module; nothing if it is not installed, or does not know it all."""
    if _SPIRV_VAL is None:
        return ""
    command = [_SPIRV_VAL, "--target-env", "spv1.4", "-"]
    done = subprocess.run(command, input=artifact.stage("spirv").data, capture_output=True, check=False)
    said = done.stderr.decode()
    return f"spirv-val: {said}" if done.returncode and _TOO_NEW not in said else ""


def cell_of(case: Case) -> tuple[str, str]:
    """What the page of coverage says of a case, and what is wrong."""
    if (refused := case.refusal()) is not None:
        return refused.rule, ""
    fault = judge(Draw(0, case.device, case.problem, case.config, Counter())).fault
    return (WRONG if fault else VERIFIED), fault
