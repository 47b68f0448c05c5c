"""Native GPU code of a SPIR-V module: compiled, disassembled, counted, and attached to an artifact."""

import json
import time
from dataclasses import dataclass, replace
from typing import TypeVar

from codegen.artifact.kernel_artifact import (
    GemmArtifact,
    KernelArtifact,
    StageOutput,
)
from codegen.elf import undefined_symbols
from codegen.errors import CompileFailed, MissingDpas, ScoreboardHazards, UnresolvedBuiltins
from codegen.serialization import (
    Json,
    to_json,
)
from codegen.target import LARGE_GRF, LARGE_GRF_OPENCL, Target
from codegen.xe.isa.loops import KLoop
from codegen.xe.isa.ocloc import Disassembly, Ocloc
from codegen.xe.isa.report import (
    IsaReport,
    reports_of,
)
from codegen.xe.machine.pipeline import PipelineReport, annotated, rates_of
from codegen.xe.machine.scoreboard import Scoreboard

Artifact = TypeVar("Artifact", bound=KernelArtifact)

_SHOWN_HAZARDS = 100
_PRODUCT = b"matrix_mad"  # part of the names of the built-ins that use DPAS


@dataclass(frozen=True, slots=True)
class Compiled:
    """A binary and its disassembly; `grf_bytes` is the size of a register."""

    binary: bytes
    disassembly: Disassembly
    grf_bytes: int


@dataclass(frozen=True, slots=True)
class NativeCode:
    """The code of all kernels of a module for a chip, and a report on each. `compiler` is its version.

    `compiled` is what executes without the GPU; None where only the report is known.
    """

    chip: str
    compiler: str
    options: str
    assembly: str
    reports: tuple[IsaReport, ...]
    elapsed_ms: float
    compiled: Compiled | None = None

    @property
    def spill_bytes(self) -> int:
        """Spill bytes of the kernel that spills most."""
        return max(report.spill_bytes for report in self.reports)

    def to_json(self) -> dict[str, Json]:
        """Return isa.json: the compiler and its options, and the reports with figures derived from their counts."""
        kernels: list[Json] = [report_json(report) for report in self.reports]
        return {"chip": self.chip, "compiler": self.compiler, "options": self.options, "kernels": kernels}


def compile_native(ocloc: Ocloc, spirv: bytes, target: Target, options: str = LARGE_GRF_OPENCL) -> NativeCode:
    """Compile a SPIR-V module for the chip of `target` with a driver's build options.

    Raises:
        UnresolvedBuiltins: it calls functions that do not exist.
        MissingDpas: it multiplies matrices, and no kernel has DPAS.
        CompileFailed: the compiler rejects it, crashes, or times out.
        OclocUnusable: the compiler does not run.
    """
    begun = time.perf_counter()
    binary = _resolved(ocloc, spirv, target, options)
    disassembly = ocloc.disassemble(binary, target.chip)
    reports = reports_of(disassembly, rates_of(target.chip, target.grf_bytes))
    _check_products(spirv, reports, target)
    return NativeCode(
        chip=target.chip,
        compiler=ocloc.version(),
        options=options,
        assembly="".join(f"// kernel {name}\n{text.rstrip()}\n" for name, text in disassembly.assembly.items()),
        reports=reports,
        elapsed_ms=(time.perf_counter() - begun) * 1e3,
        compiled=Compiled(binary, disassembly, target.grf_bytes),
    )


def check_native(ocloc: Ocloc, spirv: bytes, target: Target) -> None:
    """Compile a SPIR-V module as `compile_native` does, for its errors alone: disassembled only if it multiplies.

    Raises:
        UnresolvedBuiltins, MissingDpas, CompileFailed, OclocUnusable: as compile_native.
    """
    binary = _resolved(ocloc, spirv, target, LARGE_GRF_OPENCL)
    if _PRODUCT in spirv:
        disassembly = ocloc.disassemble(binary, target.chip)
        _check_products(spirv, reports_of(disassembly, rates_of(target.chip, target.grf_bytes)), target)


def check_scoreboard(code: NativeCode) -> None:
    """Check that no instruction accesses a register too early, as far as public rules tell.

    Raises:
        ScoreboardHazards: one does; names the kernel and the first hazard.
    """
    for report in code.reports:
        if report.scoreboard is not None and report.scoreboard.refuses:
            first, *others = report.scoreboard.hazards
            more = f" (and {len(others):,} more)" if others else ""
            raise ScoreboardHazards("isa", f"scoreboard: kernel {report.kernel} for {code.chip}: {first}{more}")


def compile_kernel(ocloc: Ocloc, artifact: KernelArtifact, target: Target) -> NativeCode:
    """Compile an artifact's SPIR-V: a GEMM with its configuration's registers, other kernels with the most.

    Raises:
        CompileFailed, OclocUnusable: as compile_native.
    """
    is_small = isinstance(artifact, GemmArtifact) and artifact.config.strategy.grf_mode != LARGE_GRF
    return compile_native(ocloc, artifact.stage("spirv").data, target, "" if is_small else LARGE_GRF_OPENCL)


def with_isa(artifact: Artifact, code: NativeCode) -> Artifact:
    """Return the artifact with the files isa.asm and isa.json added, and pipeline.txt if a kernel has a K loop."""
    document = (json.dumps(code.to_json(), indent=2) + "\n").encode()
    assembly = StageOutput("isa", "isa.asm", code.assembly.encode(), code.elapsed_ms)
    report = StageOutput("isa-report", "isa.json", document, 0.0)
    issues = "\n".join(annotated(r.pipeline) for r in code.reports if r.pipeline is not None)
    pipeline = [StageOutput("pipeline", "pipeline.txt", issues.encode(), 0.0)] if issues else []
    return replace(artifact, stages=(*artifact.stages, assembly, report, *pipeline))


def _resolved(ocloc: Ocloc, spirv: bytes, target: Target, options: str) -> bytes:
    binary = ocloc.compile(spirv, target.chip, options)
    _check_resolved(binary, target.chip)
    return binary


def _check_products(spirv: bytes, reports: tuple[IsaReport, ...], target: Target) -> None:
    if _PRODUCT in spirv and all(report.k_loop is None and report.unread is None for report in reports):
        raise MissingDpas("isa", f"the SPIR-V multiplies matrices, and the code for {target.chip} has no dpas")


def _check_resolved(binary: bytes, chip: str) -> None:
    try:
        missing = undefined_symbols(binary)
    except ValueError as error:
        raise CompileFailed("isa", f"the binary for {chip}: {error}") from error
    if missing:
        raise UnresolvedBuiltins("isa", f"the code for {chip} calls {', '.join(missing)}, which do not exist")


def report_json(report: IsaReport) -> Json:
    """Return a report with figures derived from its counts: an entry of isa.json."""
    return {
        "kernel": report.kernel,
        "grf_count": report.grf_count,
        "threads_per_eu": report.threads_per_eu,
        "spill_bytes": report.spill_bytes,
        "slm_bytes": report.slm_bytes,
        "instructions": report.instructions,
        "unread": report.unread,
        "k_loop": None if report.k_loop is None else _k_loop_json(report.k_loop),
        "pipeline": None if report.pipeline is None else pipeline_json(report.pipeline),
        "scoreboard": None if report.scoreboard is None else _scoreboard_json(report.scoreboard),
    }


def pipeline_json(pipeline: PipelineReport) -> dict[str, Json]:
    """Return the figures of a pipeline, without its issues."""
    return {
        "threads": pipeline.threads,
        "level": str(pipeline.level),
        "clocks": round(pipeline.clocks, 1),
        "dpas": pipeline.dpas,
        "dpas_clks": pipeline.busy_clks,
        "utilisation": round(pipeline.utilisation, 4),
        "hiding_threads": pipeline.hiding,
        "clocks_by_threads": {str(n): round(clocks, 1) for n, clocks in pipeline.by_threads.items()},
        "stalls": {str(reason): round(clocks, 1) for reason, clocks in pipeline.stalls.items()},
    }


def _scoreboard_json(scoreboard: Scoreboard) -> Json:
    return {
        "verdict": scoreboard.verdict,
        "hazards": [str(hazard) for hazard in scoreboard.hazards[:_SHOWN_HAZARDS]],
        "rules_are_public": scoreboard.rules_are_public,
    }


def _k_loop_json(loop: KLoop) -> Json:
    return {
        "is_loop": loop.is_loop,
        "dpas": loop.dpas,
        "sends": to_json(loop.sends),
        "alu": loop.alu,
        "moves": loop.moves,
        "scalar_moves": loop.scalar_moves,
        "barriers": loop.barriers,
        "loaded_bytes": loop.loaded_bytes,
        "sends_per_256_dpas": round(loop.sends_per_256_dpas, 2),
        "moves_per_256_dpas": round(loop.moves_per_256_dpas, 2),
        "scalar_moves_per_256_dpas": round(loop.scalar_moves_per_256_dpas, 2),
        "loaded_bytes_per_dpas": round(loop.loaded_bytes_per_dpas, 2),
    }
