"""xetune tune: one problem on one device, from search to stored kernel."""

from http import HTTPStatus
from types import MappingProxyType
from typing import Annotated

import typer

from service.api.jobs.schemas import (
    BudgetBody,
    JobBody,
)
from service.api.shapes.requests import SetSearch
from service.cli.chosen_server import server
from service.cli.completing import presets
from service.cli.connection import connect, same
from service.cli.options.naming import told_by_options
from service.cli.options.problem import AsJson, DeviceName, ProblemOptions, TargetName, with_problem
from service.cli.printing.output import CONSOLE
from service.cli.printing.progress import end_with
from service.cli.tuning.results import print_job
from service.cli.tuning.running import work_on_job
from service.cli.tuning.shapes import SetOptions, read_within, tune_shapes
from service.errors import BadRequest
from service.schemas import to_body
from tuner.search.method import Method
from tuner.search.objective import Objective
from xetune_client import models
from xetune_client.wire import creation, read

_TRIALS = 50
_OPTIONS = MappingProxyType(
    {name: f"--{name}" for name in ("seed", "device", "target", "search", "objective", "trials", "seconds", "roofline")}
    | {"no_gain": "--no-gain", "problem": "the problem"}
)
_OF_BUDGET = MappingProxyType(
    {f"budget.{name}": _OPTIONS[name] for name in ("trials", "seconds", "no_gain", "roofline")} | _OPTIONS
)


@with_problem
def tune_command(
    problem: ProblemOptions,
    device: DeviceName = "auto",
    target: TargetName = None,
    shapes: Annotated[
        str | None,
        typer.Option(
            "--shapes",
            help="Many shapes under one budget: a file (.csv, .json or text), a preset that `xetune shapes presets` "
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
            max=2**31 - 1,
            help="Maximum number of trials (default: 50; with --shapes 25 for each shape).",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(help="Time budget, in seconds.")] = 600.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of random choices.")] = 0,
    again: Annotated[bool, typer.Option("--again", help="Ignore cached measurements of earlier jobs.")] = False,
    cold: Annotated[
        bool, typer.Option("--cold", help="No warm start from the best of other problems and devices.")
    ] = False,
    search: Annotated[
        str,
        typer.Option(
            help=f"How the space is searched: {', '.join(Method)}, a class of optuna.samplers, or package.module:Class "
            "(with --server only what XETUNE_SAMPLERS of the service lists)."
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
        typer.Option(min=1, max=2**31 - 1, help="Stop after so many trials in a row without a gain of 1 %."),
    ] = None,
    roofline: Annotated[float | None, typer.Option(help="Stop at this fraction of the roofline, such as 0.8.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find the fastest kernel for a GEMM on a device, verify its results and store it."""
    if shapes is not None:
        if roofline is not None:
            raise BadRequest("--shapes: expected no --roofline; a set ends by trials, seconds and --no-gain")
        how = SetSearch(reuse=not again, warm_start=not cold, method=search, no_gain=no_gain, objective=objective)
        options = SetOptions(shapes, device, target, trials, seconds, seed, read_within(within), how)
        tune_shapes(options, problem.base(), as_json)
        return
    gemm = problem.read()
    with connect() as client:
        with told_by_options(_OF_BUDGET):
            most = _TRIALS if trials is None else trials
            budget = BudgetBody(trials=most, seconds=seconds, no_gain=no_gain, roofline=roofline)
            body = JobBody(
                problem=to_body(gemm),
                device=device,
                target=target,
                budget=budget,
                seed=seed,
                search=search,
                objective=objective,
                reuse=not again,
                warm_start=not cold,
            )
            answer = client.send(creation("/v1/jobs", same(models.JobBody, body)))
        job = read(answer, models.JobOut)
        if not as_json:
            is_new = answer.status == HTTPStatus.ACCEPTED
            where = job.device if (url := server()) is None else f"{job.device} of {url}"
            CONSOLE.print(f"tuning {gemm} on {where}", highlight=False, soft_wrap=True)
            CONSOLE.print(f"{'job' if is_new else 'resuming job'} {job.id}", highlight=False)
        work_on_job(client, job.id, server(), quiet=as_json)
        end_with(print_job(client, job.id, as_json))
