"""xetune jobs: list, show, cancel, retry, resume and export tuning jobs."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.table import Column, Table

from service.api.jobs.schemas import (
    JobOut,
    JobPage,
    JobStatus,
    TrialOut,
)
from service.cli import completing
from service.cli.chosen_server import server
from service.cli.connection import connect, same
from service.cli.options.problem import AsJson
from service.cli.printing.evidence import shown_kind, shown_time
from service.cli.printing.output import CONSOLE, print_json, print_line, text_table
from service.cli.printing.progress import end_with
from service.cli.tuning.results import print_job
from service.cli.tuning.running import work_on_job
from service.cli.tuning.study import write_job_study
from service.errors import NotFound
from service.schemas import to_problem
from xetune_client import Client, models
from xetune_client import NotFound as Missing
from xetune_client.events import is_over
from xetune_client.wire import creation, read

app = typer.Typer(help="List, show, cancel, retry, resume and export tuning jobs.", invoke_without_command=True)

_PAGE = 200
JobId = Annotated[UUID, typer.Argument(help="Id of the job.", autocompletion=completing.jobs)]


@app.callback()
def list_command(
    context: typer.Context,
    status: Annotated[list[JobStatus] | None, typer.Option(help="Only jobs with this status.")] = None,
    device: Annotated[
        str | None, typer.Option(help="Only jobs for this device.", autocompletion=completing.devices)
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of jobs.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the newest jobs."""
    if context.invoked_subcommand is not None:
        return
    with connect() as client:
        page = _newest(client, status or [], device, limit)
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
    with connect() as client, _advising(job_id):
        print_job(client, job_id, as_json)


@app.command("cancel")
def cancel_command(job_id: JobId, as_json: AsJson = False) -> None:
    """Cancel a job; its results are kept."""
    with connect() as client, _advising(job_id):
        job = client.cancel(job_id)
    if as_json:
        print_json(job.model_dump(mode="json"))
    else:
        print_line(f"job {job.id}: {job.status.value}{'' if is_over(job) else ' (stopping)'}")


@app.command("retry")
def retry_command(job_id: JobId, as_json: AsJson = False) -> None:
    """Resubmit a failed or cancelled job and run it in this process, or follow the service that runs it."""
    with connect() as client:
        with _advising(job_id):
            answer = client.send(creation(f"/v1/jobs/{job_id}/retry", None))
        job, is_new = read(answer, JobOut), answer.status == HTTPStatus.ACCEPTED
        if not as_json:
            again = "is resubmitted as" if is_new else "is the same as the active"
            print_line(f"job {job_id} {again} job {job.id}")
        work_on_job(client, job.id, server(), quiet=as_json)
        end_with(print_job(client, job.id, as_json))


@app.command("resume")
def resume_command(job_id: JobId, as_json: AsJson = False) -> None:
    """Resume an interrupted job in this process, or follow the service that runs it."""
    with connect() as client, _advising(job_id):
        work_on_job(client, job_id, server(), quiet=as_json)
        end_with(print_job(client, job_id, as_json))


@app.command("study")
def study_command(
    job_id: JobId,
    output: Annotated[Path, typer.Option("--output", "-o", help="SQLite file to write.", dir_okay=False)],
) -> None:
    """Write a job's trials as an Optuna study, for `optuna-dashboard FILE` and `optuna.load_study`."""
    with connect() as client, _advising(job_id):
        job = same(JobOut, client.job(job_id))
        trials = [same(TrialOut, trial) for trial in client.each_trial(job_id)]
    try:
        write_job_study(job, trials, output)
    except FileExistsError as error:
        raise typer.BadParameter(str(error), param_hint="--output") from error
    CONSOLE.print(f"{len(trials)} trials written to {output}", highlight=False, soft_wrap=True)


@contextmanager
def _advising(job_id: UUID) -> Generator[None]:
    """Say which command lists the jobs if there is no such job."""
    try:
        yield
    except Missing as error:
        raise NotFound(f"job {job_id} does not exist; `xetune jobs` lists those that do") from error


def _newest(client: Client, status: Sequence[JobStatus], device: str | None, limit: int) -> JobPage:
    of = [models.JobStatus(one) for one in status]
    found: list[models.JobOut] = []
    before: UUID | None = None
    while True:
        page = client.jobs(status=of, device=device, before=before, limit=min(limit - len(found), _PAGE))
        found, before = found + page.jobs, page.next_before
        if before is None or len(found) >= limit:
            return same(JobPage, models.JobPage(jobs=found, next_before=before))


def _table(jobs: list[JobOut]) -> Table:
    job_id = Column("job", min_width=36, overflow="fold")  # an id is whole
    table = text_table(job_id, Column("status"), Column("best time (spread)"), spaced=True)
    for job in jobs:
        time = None if job.best is None else job.best.evidence.time
        stopping = "\nstopping" if job.cancel_requested and not job.status.over else ""
        table.add_row(
            f"{job.id}\n{to_problem(job.problem)}\n{job.device}\n{job.created_at:%Y-%m-%d %H:%M} UTC",
            f"{job.status.value}{stopping}\n{job.done} of {job.budget.trials}",
            f"{shown_time(time)}\n{shown_kind(time)}" if time is not None else "none",
        )
    return table
