"""xetune xray: kernels in files that others compiled, side by side with our own for the same problem."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.table import Column

from codegen import InvalidProblem
from service.api.xray.schemas import KLoopOut, OursOut, XrayKernelOut, XrayOut
from service.cli.completing import devices
from service.cli.connection import connect, same
from service.cli.options.problem import AsJson, ProblemOptions, with_problem
from service.cli.printing.output import CONSOLE, print_json, print_wrapped, text_table
from service.http.problem_query import to_query
from service.kernel_names import labels

_TIMEOUT_S = 600.0
_SIZES = {"m", "n", "k"}
_SIZES_UNKNOWN = "M, N and K"  # of all kernels
_UNKNOWN = "-"


@with_problem
def xray_command(
    problem: ProblemOptions,
    file: Annotated[
        Path | None,
        typer.Argument(help="A zebin, a library, an ar archive, a wheel, or a .spv.", exists=True, dir_okay=False),
    ] = None,
    stored: Annotated[
        UUID | None, typer.Option(help="A stored kernel, by its id, in place of a file.", metavar="ID")
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            help="GPU that `xetune devices` lists: only its code is shown, and SPIR-V is compiled for it.",
            autocompletion=devices,
        ),
    ] = None,
    kernel: Annotated[str, typer.Option(help="Pattern of kernel names, as in '*Gemm*'.", metavar="PATTERN")] = "*",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of kernels.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show the kernels of a file: registers, spills, the K loop and its pipeline, hazards of the scoreboard.

    Beside GEMMs stand our kernels for the same types and layouts, of 4096 x 4096 x 4096 or of --m, --n and --k. With
    other options of a problem, ours for that problem stands beside all kernels.
    """
    if (file is None) == (stored is None):
        raise InvalidProblem("FILE", "expected a file or --stored ID, got both or neither")
    with connect(_TIMEOUT_S) as client:
        if stored is not None:
            found = client.xray_kernel(stored)
        else:
            assert file is not None  # one of both
            said = {"name": file.name, "device": device, "kernel": kernel, "limit": limit, **_asked(problem)}
            found = client.xray(file.read_bytes(), **said)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        _print(same(XrayOut, found))


def _asked(problem: ProblemOptions) -> dict[str, str | int | bool | None]:
    """Return the query parameters of the options that were given."""
    if not problem.given:
        return {}
    gemm = problem.read()
    return {"m": gemm.m, "n": gemm.n, "k": gemm.k} if {*problem.given} == _SIZES else to_query(gemm)


_LOOP: Sequence[tuple[str, Callable[[KLoopOut], str]]] = (
    ("dpas", lambda k: f"{k.dpas}" + ("" if k.is_loop else " *")),
    ("messages per dpas", lambda k: f"{k.sends.total / k.dpas:.2f}"),
    ("ALU per dpas", lambda k: f"{k.alu / k.dpas:.2f}"),
    ("bytes per dpas", lambda k: f"{k.loaded_bytes_per_dpas:,.0f}"),
)
_NUMBERS = (
    *("registers", "spilled bytes", "SLM bytes", "barriers", "lanes"),
    *(name for name, _ in _LOOP),
    *("clocks", "dpas used"),
)


def _cells(x: XrayKernelOut) -> Iterator[str]:
    yield x.chip
    yield f"{x.isa.grf_count}"
    yield f"{x.isa.spill_bytes:,}"
    yield f"{x.isa.slm_bytes:,}"
    yield f"{x.barriers}"
    yield f"{x.subgroup_size}"
    loop, pipeline = x.isa.k_loop, x.isa.pipeline
    yield from (_UNKNOWN if loop is None else shown(loop) for _, shown in _LOOP)
    yield from (_UNKNOWN, _UNKNOWN) if pipeline is None else (f"{pipeline.clocks:,.0f}", f"{pipeline.utilisation:.0%}")
    yield x.scoreboard.verdict


def _print(found: XrayOut) -> None:
    table = text_table(
        Column("kernel", overflow="fold"), "chip", *(Column(n, justify="right") for n in _NUMBERS), "scoreboard"
    )
    names = labels([kernel.isa.kernel for kernel in found.kernels])
    for label, kernel in zip(names, found.kernels, strict=True):
        table.add_row(label + ("" if kernel.ours is None else f" [{kernel.ours + 1}]"), *_cells(kernel))
    if found.ours:
        table.add_section()
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
    yield from x.scoreboard.hazards
    if x.scoreboard.unread is not None:
        yield f"not read: {x.scoreboard.unread}"
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
