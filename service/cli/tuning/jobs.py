"""xetune jobs: list, show, cancel, retry, resume and export tuning jobs."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from service.api.jobs.schemas import (
    JobOut,
    JobStatus,
)
from service.cli import completing
from service.cli.backend.chosen import backend
from service.cli.options.problem import AsJson
from service.cli.printing.evidence import shown_kind, shown_time
from service.cli.printing.output import CONSOLE, print_json
from service.cli.printing.progress import end_with
from service.cli.tuning.results import print_job
from service.cli.tuning.study import write_job_study
from service.errors import NotFound
from service.schemas import to_problem

app = typer.Typer(help="List, show, cancel, retry, resume and export tuning jobs.", invoke_without_command=True)

JobId = Annotated[UUID, typer.Argument(help="Id of the job.", autocompletion=completing.jobs)]


@app.callback()
def list_command(
    context: typer.Context,
    status: Annotated[list[JobStatus] | None, typer.Option(help="Only jobs of this status.")] = None,
    device: Annotated[
        str | None, typer.Option(help="Only jobs for the device of this id.", autocompletion=completing.devices)
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Most jobs shown.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the newest jobs."""
    if context.invoked_subcommand is not None:
        return
    with backend() as backing:
        page = backing.list_jobs(status or (), device, limit)
    if as_json:
        print_json(page.model_dump(mode="json"))
    elif not page.jobs:
        CONSOLE.print(
            "No jobs yet. Start one: xetune tune --m 512 --n 384 --k 1024 --dtype f16", highlight=False, soft_wrap=True
        )
    else:
        CONSOLE.print(_table(page.jobs))


@app.command("show")
def show_command(job_id: JobId, as_json: AsJson = False) -> None:
    """Show a job and its trials, fastest first."""
    with backend() as backing, _advising(job_id):
        print_job(backing, job_id, as_json)


@app.command("cancel")
def cancel_command(job_id: JobId, as_json: AsJson = False) -> None:
    """Ask a job to stop; what it found stays."""
    with backend() as backing, _advising(job_id):
        job = backing.cancel_job(job_id)
    if as_json:
        print_json(job.model_dump(mode="json"))
    else:
        CONSOLE.print(f"job {job.id}: {job.status.value}{' (stopping)' if not job.status.over else ''}")


@app.command("retry")
def retry_command(job_id: JobId, as_json: AsJson = False) -> None:
    """Do anew what a job that failed or was cancelled was asked for, in this process; one of a service is followed."""
    with backend() as backing:
        with _advising(job_id):
            job, is_new = backing.retry_job(job_id)
        if not as_json:
            again = "is done again as" if is_new else "is asked for by"
            CONSOLE.print(f"job {job_id} {again} job {job.id}", highlight=False)
        backing.work_on(job.id, as_json)
        end_with(print_job(backing, job.id, as_json))


@app.command("resume")
def resume_command(job_id: JobId, as_json: AsJson = False) -> None:
    """Go on with a job that was interrupted, in this process; one of a service is followed."""
    with backend() as backing, _advising(job_id):
        backing.work_on(job_id, as_json)
        end_with(print_job(backing, job_id, as_json))


@app.command("study")
def study_command(
    job_id: JobId,
    output: Annotated[Path, typer.Option("--output", "-o", help="SQLite file to write.", dir_okay=False)],
) -> None:
    """Write a job's trials as an Optuna study, for `optuna-dashboard FILE` and `optuna.load_study`."""
    with backend() as backing, _advising(job_id):
        job, trials = backing.read_job(job_id), backing.trials(job_id)
    try:
        write_job_study(job, trials, output)
    except FileExistsError as error:
        raise typer.BadParameter(str(error), param_hint="--output") from error
    CONSOLE.print(f"{len(trials)} trials written to {output}", highlight=False, soft_wrap=True)


@contextmanager
def _advising(job_id: UUID) -> Generator[None]:
    """Where the service names a path of its own, name the command."""
    try:
        yield
    except NotFound as error:
        raise NotFound(f"job {job_id} does not exist; `xetune jobs` lists those that do") from error


def _table(jobs: list[JobOut]) -> Table:
    table = Table(box=SIMPLE_HEAD, show_lines=False, padding=(0, 1, 1, 0))
    table.add_column("job", min_width=36, overflow="fold")  # an id is whole
    table.add_column("status")
    table.add_column("best time (spread)")
    for job in jobs:
        time = None if job.best is None else job.best.evidence.time
        stopping = "\nstopping" if job.cancel_requested and not job.status.over else ""
        table.add_row(
            f"{job.id}\n{to_problem(job.problem)}\n{job.device}\n{job.created_at:%Y-%m-%d %H:%M} UTC",
            f"{job.status.value}{stopping}\n{job.done} of {job.budget.trials}",
            f"{shown_time(time)}\n{shown_kind(time)}" if time is not None else "none",
        )
    return table
