"""xetune xray: kernels in files that others compiled, side by side with our own for the same problem."""

from pathlib import Path
from typing import Annotated

import typer

from service.cli.access.opening import open_access
from service.cli.completing import devices
from service.cli.ids import HELP, find_kernel
from service.cli.options.output import AsJson
from service.cli.options.problem import ProblemOptions, with_problem
from service.cli.printing.output import print_json

_TIMEOUT_S = 600.0


@with_problem
def xray_command(
    problem: ProblemOptions,
    file: Annotated[
        Path | None,
        typer.Argument(help="A zebin, a library, an ar archive, a wheel, or a .spv.", dir_okay=False),
    ] = None,
    stored: Annotated[
        str | None, typer.Option(help=f"A stored kernel in place of a file, by its id: {HELP}", metavar="KERNEL")
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
    from codegen import InvalidProblem
    from service.cli.compiler.inspection.xrays import asked, print_all, report_on, report_on_kernel

    if (file is None) == (stored is None):
        raise InvalidProblem("FILE", "expected a file or --stored KERNEL, got both or neither")
    with open_access(timeout_s=_TIMEOUT_S) as access:
        if stored is not None:
            found = access.read(report_on_kernel(find_kernel(access, stored)))
        else:
            assert file is not None  # one of both
            said = {"name": file.name, "device": device, "kernel": kernel, "limit": limit, **asked(problem)}
            found = access.do(report_on(file, said)).answer
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_all(found)
