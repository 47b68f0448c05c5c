"""`--isa`: native code of kernels, as files and as a table with a column for each kernel."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from rich.table import Column, Table

from codegen import GemmProblem, KernelArtifact, XeConfig, compile_gemm
from codegen.target import target_of
from codegen.xe.isa import (
    IsaReport,
    KLoop,
    NativeCode,
    Ocloc,
    compile_kernel,
    with_isa,
)
from codegen.xe.machine.pipeline import PipelineReport
from codegen.xe.machine.scoreboard import Scoreboard
from hal import DeviceSpec
from service.api.toolchain.offline import need_ocloc
from service.cli.printing.output import text_table
from service.settings import read_settings

Artifact = TypeVar("Artifact", bound=KernelArtifact)

_UNKNOWN = "-"

_FACTS: Sequence[tuple[str, Callable[[IsaReport], str]]] = (
    ("registers per thread", lambda r: f"{r.grf_count}"),
    ("threads per EU", lambda r: _UNKNOWN if r.threads_per_eu is None else f"{r.threads_per_eu}"),
    ("spilled, bytes per thread", lambda r: f"{r.spill_bytes:,}"),
    ("shared local memory, bytes", lambda r: f"{r.slm_bytes:,}"),
    ("instructions", lambda r: f"not read: {r.unread}" if r.instructions is None else f"{r.instructions:,}"),
)
_COUNTS: Sequence[tuple[str, Callable[[KLoop], int]]] = (
    ("messages", lambda k: k.sends.total),
    ("  loads", lambda k: k.sends.loads),
    ("  prefetches", lambda k: k.sends.prefetches),
    ("  stores", lambda k: k.sends.stores),
    ("  atomics", lambda k: k.sends.atomics),
    ("  shared local memory", lambda k: k.sends.slm),
    ("  spilled registers", lambda k: k.sends.scratch),
    ("  barriers", lambda k: k.sends.barriers),
    ("  other", lambda k: k.sends.other),
    ("moves", lambda k: k.moves),
    ("  scalar", lambda k: k.scalar_moves),
)
_PIPELINE: Sequence[tuple[str, Callable[[PipelineReport], str]]] = (
    ("clocks of an iteration", lambda p: f"{p.clocks:,.0f}"),
    ("  with one thread", lambda p: f"{p.by_threads[1]:,.0f}"),
    ("dpas used", lambda p: f"{p.utilisation:.0%}"),
    ("threads that hide latency", lambda p: f"{p.hiding} of {p.threads}"),
)
_ALWAYS = ("messages", "  loads", "  prefetches", "moves", "  scalar")


def wanted_ocloc(isa: bool) -> Ocloc | None:
    """Return Intel's offline compiler if `--isa` is given.

    Raises:
        OclocUnusable: there is none; says how to install it.
    """
    return need_ocloc(read_settings()) if isa else None


def with_code(artifact: Artifact, spec: DeviceSpec, ocloc: Ocloc | None) -> tuple[Artifact, NativeCode | None]:
    """Return an artifact with its native code; unchanged without a compiler.

    Raises:
        CompileFailed: the compiler refuses the kernel, or its output is invalid.
    """
    if ocloc is None:
        return artifact, None
    code = compile_kernel(ocloc, artifact, target_of(spec))
    return with_isa(artifact, code), code


def k_loop_of(problem: GemmProblem, config: XeConfig, spec: DeviceSpec, ocloc: Ocloc) -> PipelineReport | None:
    """Compile a GEMM and return the pipeline model of its K loop; None if the reader refuses the code.

    Raises:
        CompileFailed: the compiler refuses the kernel, or its output is invalid.
    """
    code = compile_kernel(ocloc, compile_gemm(problem, config, spec), target_of(spec))
    return next((report.pipeline for report in code.reports if report.pipeline is not None), None)


def isa_table(code: NativeCode) -> Table:
    """Render registers, threads, spills and the K loop; kinds of messages that no kernel uses are left out."""
    loops = [report.k_loop for report in code.reports]
    has_loop = any(loop is not None for loop in loops)
    headings = (h for report in code.reports for h in (report.kernel, *(("for 256 dpas",) if has_loop else ())))
    numbers = (Column(heading, justify="right") for heading in headings)
    table = text_table(Column(""), *numbers, title=f"code for {code.chip} by ocloc {code.compiler}")
    for name, shown in _FACTS:
        _add_row(table, name, [(shown(report), "") for report in code.reports])
    if has_loop:
        table.add_section()
        _add_loops(table, loops)
    table.add_section()
    _add_row(table, "scoreboard", [(_verdict(report.scoreboard), "") for report in code.reports])
    if any(report.pipeline is not None for report in code.reports):
        table.add_section()
        _add_pipelines(table, [report.pipeline for report in code.reports])
    return table


def _verdict(scoreboard: Scoreboard | None) -> str:
    return "not read" if scoreboard is None else scoreboard.verdict


def hazard_lines(code: NativeCode) -> Iterator[str]:
    """Yield the hazards of each kernel."""
    for report in code.reports:
        hazards = () if report.scoreboard is None else report.scoreboard.hazards
        yield from (f"{report.kernel}: {hazard}" for hazard in hazards)


def _add_loops(table: Table, loops: list[KLoop | None]) -> None:
    _add_row(table, "K loop", [("none" if k is None else "a loop" if k.is_loop else "unrolled", "") for k in loops])
    _add_row(table, "dpas", [(_UNKNOWN if k is None else f"{k.dpas}", "") for k in loops])
    for name, counted in _COUNTS:
        if name in _ALWAYS or any(k is not None and counted(k) for k in loops):
            _add_row(table, name, [_with_rate(k, counted) for k in loops])
    loaded = [_UNKNOWN if k is None else f"{k.loaded_bytes_per_dpas:,.0f}" for k in loops]
    _add_row(table, "bytes loaded for a dpas", [(shown, "") for shown in loaded])


def _add_pipelines(table: Table, pipelines: list[PipelineReport | None]) -> None:
    for name, shown in _PIPELINE:
        _add_row(table, name, [(_UNKNOWN if p is None else shown(p), "") for p in pipelines])
    reasons = dict.fromkeys(reason for p in pipelines if p is not None for reason in p.stalls)
    for reason in reasons:
        waits = [_UNKNOWN if p is None else f"{p.stalls.get(reason, 0.0):,.0f}" for p in pipelines]
        _add_row(table, f"  a thread waits: {reason}", [(wait, "") for wait in waits])


def _add_row(table: Table, name: str, cells: Sequence[tuple[str, str]]) -> None:
    """Add a row of counts and rates; there are no columns of rates if no kernel has a K loop."""
    columns = (len(table.columns) - 1) // len(cells)
    table.add_row(name, *(shown for cell in cells for shown in cell[:columns]))


def _with_rate(loop: KLoop | None, counted: Callable[[KLoop], int]) -> tuple[str, str]:
    if loop is None:
        return _UNKNOWN, ""
    return f"{counted(loop):,.0f}", f"{counted(loop) * 256 / loop.dpas:,.0f}"
