"""xetune tune: one problem on one device, from search to stored kernel."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from service.api.jobs.defaults import SECONDS, TRIALS, TRIALS_EACH
from service.cli.access.chosen_server import server
from service.cli.access.opening import open_access
from service.cli.completing import presets
from service.cli.devices.drivers import asking_drivers
from service.cli.options.output import AsJson
from service.cli.options.problem import DeviceName, ProblemOptions, TargetName, with_problem
from service.cli.printing.output import CONSOLE, print_line
from tuner.search.method import Method, Objective


def _checked(trials: int | None) -> int | None:
    if trials is not None and trials >= 2**31:
        raise typer.BadParameter(f"expected a number from 1 to 10,000, or to XETUNE_MAX_TRIALS; got {trials}")
    return trials


@with_problem
def tune_command(
    problem: ProblemOptions,
    device: DeviceName = "auto",
    target: TargetName = None,
    shapes: Annotated[
        str | None,
        typer.Option(
            "--shapes",
            help="Shapes to tune under one budget: a file (.csv, .json or text), a preset that `xetune shapes presets` "
            "lists, or text such as 'm=1,16 n=4096 k=4096'.",
            show_default=False,
            autocompletion=presets,
        ),
    ] = None,
    within: Annotated[
        str, typer.Option(help="With --shapes: bound on the slowdown of a shape under the recommended kernels.")
    ] = "5%",
    trials: Annotated[
        int | None,
        typer.Option(
            callback=_checked,
            help="Maximum number of trials, up to 10,000 unless XETUNE_MAX_TRIALS says otherwise "
            f"(default: {TRIALS}; with --shapes {TRIALS_EACH} for each shape).",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(help="Time budget, in seconds.")] = SECONDS,
    seed: Annotated[int, typer.Option(min=0, help="Seed of random choices.")] = 0,
    again: Annotated[bool, typer.Option("--again", help="Ignore cached measurements of earlier jobs.")] = False,
    cold: Annotated[
        bool, typer.Option("--cold", help="Disable the warm start from the best of other problems and devices.")
    ] = False,
    search: Annotated[
        str,
        typer.Option(
            help=f"Search method: {', '.join(Method)}, a class of optuna.samplers, or package.module:Class "
            "(with --server only those that the service's XETUNE_SAMPLERS lists)."
        ),
    ] = Method.PORTFOLIO.value,
    objective: Annotated[
        Objective | None,
        typer.Option(
            help="Objective to minimize: time; with nsga2 also time and workspace, or time and energy where the device "
            "measures it (default: the search's).",
            show_default=False,
        ),
    ] = None,
    no_gain: Annotated[
        int | None,
        typer.Option(min=1, max=2**31 - 1, help="Stop after this many consecutive trials without a gain of 1 %."),
    ] = None,
    roofline: Annotated[
        str | None, typer.Option(metavar="PERCENT", help="Stop at this share of the roofline, such as 80%.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder to copy the files of the fastest kernel to.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the fastest kernel for a GEMM on a device, verify its results and store it."""
    with ExitStack() as drivers:
        probes = drivers.enter_context(asking_drivers())
        # Imported here, while the drivers answer.
        from service.cli.options.naming import told_by_options
        from service.cli.options.percent import read_percent
        from service.cli.tuning.requests import flags, job_of, set_of
        from service.errors import BadRequest

        if shapes is not None and output is not None:
            raise BadRequest("-o: expected one GEMM, got --shapes; `xetune kernels M N K -o` copies the kernel of each")
        share, bound = (
            None if roofline is None else read_percent("--roofline", roofline),
            read_percent("--within", within),
        )
        budget = {"seconds": seconds, "no_gain": no_gain, "roofline": share}
        options: dict[str, object] = {
            "device": device,
            "target": target,
            "budget": budget if trials is None else budget | {"trials": trials},
            "seed": seed,
            "search": search,
            "objective": objective,
            "reuse": not again,
            "warm_start": not cold,
        }
        with open_access(probes) as access:
            with told_by_options(flags(of_set=shapes is not None)):
                what, action = (
                    job_of(problem, options) if shapes is None else set_of(problem, shapes, options | {"within": bound})
                )
                done = access.do(action)
            made = done.answer
            if not as_json:
                where = made.device if (url := server()) is None else f"{made.device} of {url}"
                CONSOLE.print(f"tuning {what} on {where}", highlight=False, soft_wrap=True)
                # Imported here, after the first line: it brings the models of devices.
                from service.cli.devices.unused import print_unused_gpus

                print_unused_gpus(access, device, made.device)
                print_line(f"{'' if done.is_new else 'resuming '}{'job' if shapes is None else 'shape set'} {made.id}")
            # Imported here, after the first lines: they bring the compiler and the search.
            from service.cli.printing.progress import end_with
            from service.cli.tuning.results import print_job
            from service.cli.tuning.running import work_on_job
            from service.cli.tuning.shape_sets import run_set

            if probes is not None:
                probes()
                drivers.close()  # their children, which have ended, would stay as zombies while the job runs
            if shapes is not None:
                run_set(access, made.id, as_json)
            else:
                work_on_job(access, made.id, server(), quiet=as_json)
                end_with(print_job(access, made.id, as_json, output))
