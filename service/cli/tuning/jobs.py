"""xetune jobs: list, show, cancel, retry, resume and export tuning jobs."""

from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from service.api.jobs.status import JobStatus
from service.cli import completing
from service.cli.access.chosen_server import server
from service.cli.access.opening import Access, open_access
from service.cli.default_command import FirstByDefault
from service.cli.ids import HELP, find_job
from service.cli.options.output import AsJson
from service.cli.printing.counted import counted
from service.cli.printing.output import CONSOLE, print_json, print_line

app = typer.Typer(cls=FirstByDefault, help="List, show, cancel, retry, resume and export tuning jobs.")
JobId = Annotated[str, typer.Argument(metavar="JOB", help=f"Id of the job: {HELP}", autocompletion=completing.jobs)]


@app.command("list")
def list_command(
    status: Annotated[list[JobStatus] | None, typer.Option(help="Only jobs with this status.")] = None,
    device: Annotated[
        str | None, typer.Option(help="Only jobs for this device.", autocompletion=completing.devices)
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of jobs.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the newest jobs."""
    from service.cli.tuning.job_lists import newest, table_of

    with open_access() as access:
        page = newest(access, status or [], device, limit, roofs=as_json)
    if as_json:
        print_json(page.model_dump(mode="json"))
    elif not page.jobs and device is not None:
        print_line(f"No such jobs for {device}; `xetune devices` lists the ids of devices, which are expected.")
    elif not page.jobs:
        CONSOLE.print(
            "No jobs yet. Start one: xetune tune --m 512 --n 384 --k 1024 --dtype f16", highlight=False, soft_wrap=True
        )
    else:
        CONSOLE.print(table_of(page.jobs))


@app.command("show")
def show_command(job: JobId, as_json: AsJson = False) -> None:
    """Show a job and its trials, fastest first."""
    from service.cli.tuning.results import print_job

    with open_access() as access:
        print_job(access, find_job(access, job), as_json)


@app.command("cancel")
def cancel_command(job: JobId, as_json: AsJson = False) -> None:
    """Cancel a job; its results are kept."""
    from service.cli.tuning.actions import cancellation_of

    with open_access() as access:
        found = access.do(cancellation_of(find_job(access, job), roofs=as_json)).answer
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        is_over = found.status.over
        was_over = is_over and not found.cancel_requested
        state = ", was over before" if was_over else "" if is_over else " (stopping)"
        print_line(f"job {found.id}: {found.status.value}{state}")


@app.command("retry")
def retry_command(job: JobId, as_json: AsJson = False) -> None:
    """Resubmit a failed or cancelled job and run it in this process, or follow the service that runs it."""
    from service.cli.tuning.actions import retry_of

    with open_access() as access:
        made = access.do(retry_of(job_id := find_job(access, job)))
        if not as_json:
            how = "is resubmitted as" if made.is_new else "is the same as the active"
            print_line(f"job {job_id} {how} job {made.answer.id}")
        _run(access, made.answer.id, as_json)


@app.command("resume")
def resume_command(job: JobId, as_json: AsJson = False) -> None:
    """Resume an interrupted job in this process, or follow the service that runs it."""
    with open_access() as access:
        _run(access, find_job(access, job), as_json)


def _run(access: Access, job_id: UUID, as_json: bool) -> None:
    """Run a job, or follow the service that runs it, and print its results."""
    from service.cli.printing.progress import end_with
    from service.cli.tuning.results import print_job
    from service.cli.tuning.running import work_on_job

    work_on_job(access, job_id, server(), quiet=as_json)
    end_with(print_job(access, job_id, as_json))


@app.command("study")
def study_command(
    job: JobId,
    output: Annotated[Path, typer.Option("--output", "-o", help="SQLite file to write.", dir_okay=False)],
) -> None:
    """Write a job's trials as an Optuna study, for `optuna-dashboard FILE` and `optuna.load_study`."""
    from service.cli.tuning.job_lists import each_trial, job_of
    from service.cli.tuning.study import write_job_study

    with open_access() as access:
        found = access.read(job_of(job_id := find_job(access, job)))
        trials = list(each_trial(access, job_id))
    try:
        write_job_study(found, trials, output)
    except FileExistsError as error:
        raise typer.BadParameter(str(error), param_hint="--output") from error
    CONSOLE.print(f"{counted(len(trials), 'trial')} written to {output}", highlight=False, soft_wrap=True)
