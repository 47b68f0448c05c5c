"""Kernels of files as text, beside ours."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from rich.table import Column

from service.api.xray.schemas import OursOut, XrayKernelOut, XrayOut
from service.api.xray.work import SIZE
from service.cli.access.resource import Action, Asked, Done, Resource, checked
from service.cli.options.problem import ProblemOptions
from service.cli.printing.counted import counted
from service.cli.printing.output import CONSOLE, print_wrapped, text_table
from service.http.problem_query import to_query
from service.text.kernel_names import labels

if TYPE_CHECKING:
    from service.http.context import Context

_SIZES = {"m", "n", "k"}
_SIZES_UNKNOWN = "M, N and K"  # of all kernels


def report_on(file: Path, asked: Asked) -> Action[XrayOut]:
    """Return the action that reports on the kernels of a file."""

    def report(context: "Context") -> Done[XrayOut]:
        from service.api.xray.schemas import XrayQuery
        from service.api.xray.service import xray_file

        with file.open("rb") as opened:
            return Done(xray_file(context, opened, checked(XrayQuery, asked)))

    return Action("/v1/xray", file, XrayOut, report, asked=asked)


def report_on_kernel(kernel_id: UUID) -> Resource[XrayOut]:
    """Return the resource of the report on a stored kernel."""

    def report(context: "Context", _: Asked) -> XrayOut:
        from service.api.xray.service import xray_kernel

        return xray_kernel(context, kernel_id)

    return Resource(f"/v1/kernels/{kernel_id}/xray", XrayOut, report)


def asked(problem: ProblemOptions) -> dict[str, str | int | bool | None]:
    """Return the query parameters of the options that were given."""
    if not problem.given:
        return {}
    if problem.problem is None and not _SIZES & {*problem.given}:
        gemm = replace(problem, m=SIZE, n=SIZE, k=SIZE).read()
        return to_query(gemm) | dict.fromkeys(_SIZES)  # which the service assumes too, and says so
    gemm = problem.read()
    return {"m": gemm.m, "n": gemm.n, "k": gemm.k} if {*problem.given} == _SIZES else to_query(gemm)


def _cells(x: XrayKernelOut) -> tuple[str, str]:
    """Return the lines of a kernel's code and of its K loop."""
    scoreboard = "not read" if x.isa.scoreboard is None else x.isa.scoreboard.verdict
    code = (
        f"{x.chip}, {x.subgroup_size} lanes",
        f"{x.isa.grf_count} registers, spilled {x.isa.spill_bytes:,} B",
        f"SLM {x.isa.slm_bytes:,} B, {counted(x.barriers, 'barrier')}",
        f"scoreboard {scoreboard}",
    )
    return "\n".join(code), "\n".join(_k_loop(x))


def _k_loop(x: XrayKernelOut) -> Iterator[str]:
    loop, pipeline = x.isa.k_loop, x.isa.pipeline
    if loop is None:
        yield "none"
        return
    yield f"{loop.dpas} dpas{'' if loop.is_loop else ' *'}"
    yield f"per dpas: {loop.sends.total / loop.dpas:.2f} messages,"
    yield f"{loop.alu / loop.dpas:.2f} ALU, {loop.loaded_bytes_per_dpas:,.0f} bytes"
    if pipeline is not None:
        yield f"{pipeline.clocks:,.0f} clocks, dpas used {pipeline.utilisation:.0%}"


def print_all(found: XrayOut) -> None:
    """Print each kernel of a file, with ours beside it."""
    code, loop = (Column(name, no_wrap=True) for name in ("code", "K loop"))
    table = text_table(Column("kernel", overflow="fold"), code, loop, spaced=True)
    names = labels([kernel.isa.kernel for kernel in found.kernels])
    for label, kernel in zip(names, found.kernels, strict=True):
        table.add_row(label + ("" if kernel.ours is None else f" [{kernel.ours + 1}]"), *_cells(kernel))
    for number, own in enumerate(found.ours, start=1):
        table.add_row(f"[{number}] ours for {own.text} ({own.source.value})", *_cells(own.kernel))
    CONSOLE.print(table, markup=False)
    if any(x.isa.k_loop is not None and not x.isa.k_loop.is_loop for x in found.kernels):
        print_wrapped("* unrolled: from the first load of an operand to the last dpas")
    for label, kernel in zip(names, found.kernels, strict=True):
        for line in _lines(kernel):
            print_wrapped(f"{label}: {line}")
    for line in _notes(found):
        print_wrapped(line)


def _lines(x: XrayKernelOut) -> Iterator[str]:
    yield from () if x.isa.scoreboard is None else x.isa.scoreboard.hazards
    if x.isa.unread is not None:
        yield f"not read: {x.isa.unread}"
    unknown = [] if x.problem is None else [fact for fact in x.problem.unknown if not fact.startswith(_SIZES_UNKNOWN)]
    if unknown:
        yield f"not told by name or code: {'; '.join(unknown)}"


def _notes(found: XrayOut) -> Iterator[str]:
    yield from map(_assumed, (own for own in found.ours if own.sizes_are_assumed))
    yield from found.notes
    if found.more:
        yield f"{found.more:,} more kernels are not shown: --limit, --kernel and --device choose"
    if found.other_binaries:
        yield f"{found.other_binaries:,} binaries are for other GPUs"
    if found.compressed:
        yield f"{found.compressed:,} places may hold compressed code (zstd): install xetune[xray] to read them"
    yield from (f"not compiled: {failure}" for failure in found.failures)


def _assumed(own: OursOut) -> str:
    return f"ours for {own.text}: the sizes are assumed, --m, --n and --k give others"
