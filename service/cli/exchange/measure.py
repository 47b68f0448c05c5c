"""xetune measure: measure on this machine what a file or a service lists."""

from io import BytesIO
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from service.cli.chosen_server import server
from service.cli.completing import devices
from service.cli.connection import in_process, of_service, same
from service.cli.exchange.lines import check_origin, tell_imported, write
from service.cli.exchange.results import Origin, Output
from service.cli.printing.counted import counted
from service.cli.printing.output import ERRORS, print_line
from service.cli.tuning.running import work_on_job
from service.errors import BadRequest
from service.schemas import ProblemBody, to_problem
from tuner.exchange.formats import Format, open_file, specification_of
from tuner.exchange.jsonl import join_files, read_lines
from xetune_client import Client, ClientError, models


def measure_command(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Runners-up or a T1 file (default with --server: the service's runners-up).",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Device to measure on, in place of the file's.", autocompletion=devices)
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=1.0, max=86_400.0, help="Time budget for each problem, in seconds.")
    ] = 600.0,
    origin: Origin = None,
    output: Output = None,
) -> None:
    """Measure runners-up or a T1 file on this machine, and write the results or send them to the service."""
    url = server()
    check_origin(origin)
    with in_process() as client:
        content = _of_service(client, url, device) if file is None else _of_file(file)
        queued = client.import_results(content, device=device, seconds=seconds).queued
        for job_id in queued:
            print_line(_begun(client.job(job_id)), ERRORS)
            work_on_job(client, job_id, quiet=False)
        lines = _results(client, queued, origin)
        failed = [job_id for job_id in queued if client.job(job_id).best is None]
    if url is None or output is not None:
        write(lines, output)
    if url is not None:
        _send(url, lines, queued)
    if failed:
        print_line(f"no time was measured in {', '.join(map(str, failed))}: `xetune jobs show`", ERRORS)
        raise typer.Exit(1)


def _of_file(file: Path) -> bytes:
    """Return the content of a file that lists configurations to measure.

    Raises:
        BadRequest: it holds results.
        InvalidFile: it is no T1 file.
    """
    content, opened = file.read_bytes(), open_file(file)
    if opened.format is not Format.JSONL:
        specification_of(opened)
    elif read_lines(BytesIO(content)).trials:
        raise BadRequest(f"{file.name}: expected configurations to measure, got results: `xetune import` reads them")
    return content


def _of_service(client: Client, url: str | None, device: str | None) -> bytes:
    """Return the predicted configurations without a measurement for a device of this machine.

    Raises:
        BadRequest: no service or no device is named, or there is nothing to measure.
    """
    if url is None or device is None:
        raise BadRequest(
            "expected FILE, which `xetune export --runners-up` writes, or --server and --device: then the service's "
            "runners-up of that device are measured"
        )
    found = client.device(device)
    of = found.emulates or found.id
    with of_service(url) as remote:
        lines = remote.export_results(device=of, runners_up=True)
    if not read_lines(BytesIO(lines)).candidates:
        raise BadRequest(f"{url} has no configuration of {of} that is predicted and was not measured")
    return lines


def _begun(job: models.JobOut) -> str:
    problem, count = to_problem(same(ProblemBody, job.problem)), job.budget.trials - 1  # less the default
    return f"measuring {counted(count, 'configuration')} of {problem} on {job.device}, job {job.id}"


def _results(client: Client, jobs: list[UUID], origin: str | None) -> bytes:
    """Return the results of several jobs below one header."""
    return "".join(join_files(client.export_results(job_id=job, origin=origin) for job in jobs)).encode()


def _send(url: str, lines: bytes, jobs: list[UUID]) -> None:
    try:
        with of_service(url) as remote:
            done = remote.import_results(lines)
    except ClientError:
        again = " and ".join(f"`xetune export --job {job} -o FILE`" for job in jobs)
        told = f"the results did not reach {url}; they are in the database of this machine: {again}, then import that"
        print_line(told, ERRORS)
        raise
    tell_imported(done, as_json=False)
