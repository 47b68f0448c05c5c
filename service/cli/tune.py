"""xetune tune: one problem on one device, from search to stored kernel."""

from typing import Annotated

import typer

from codegen import DType
from hal import list_devices
from service.cli.output import CONSOLE
from service.cli.problem import (
    AsJson,
    DeviceName,
    InputType,
    K,
    LeadingA,
    LeadingB,
    LeadingC,
    M,
    N,
    OutputType,
    TargetName,
    plain_gemm,
)
from service.cli.results import print_job
from service.cli.running import end_with, work_on_job
from service.cli.stored import stored
from service.devices.service import DeviceDirectory
from service.jobs.requests import submit, understand
from service.jobs.schemas import BudgetBody, JobBody
from service.schemas import to_body


def tune_command(
    m: M,
    n: N,
    k: K,
    dtype: InputType = DType.F16,
    out_dtype: OutputType = DType.F32,
    lda: LeadingA = None,
    ldb: LeadingB = None,
    ldc: LeadingC = None,
    device: DeviceName = "auto",
    target: TargetName = None,
    trials: Annotated[int, typer.Option(help="Most configurations tried.")] = 50,
    seconds: Annotated[float, typer.Option(help="Longest run, in seconds.")] = 600.0,
    seed: Annotated[int, typer.Option(min=0, help="Start of the random choices.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Find the fastest kernel for a GEMM on a device, prove its numbers and store it."""
    problem = plain_gemm(m, n, k, dtype, out_dtype, lda, ldb, ldc)
    with stored() as store:
        budget = BudgetBody(trials=trials, seconds=seconds)
        body = JobBody(problem=to_body(problem), device=device, target=target, budget=budget, seed=seed)
        directory = DeviceDirectory(list_devices, store.settings.devices_ttl_s)
        request = understand(body, directory, store.settings)
        with store.database.write() as session:
            job, is_new = submit(session, request, store.settings.max_active_jobs)
        if not as_json:
            begun = "job" if is_new else "going on with job"
            what = f"{problem} on {request.device.id} ({request.device.name})"
            CONSOLE.print(f"tuning {what}, {begun} {job.id}", highlight=False)
        work_on_job(store, job.id, as_json)
        end_with(print_job(store, job.id, as_json))
