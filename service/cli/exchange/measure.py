"""xetune measure: measure on this machine what a file or a service lists."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from service.api.jobs.defaults import SECONDS
from service.cli.access.chosen_server import server
from service.cli.access.opening import open_access_of
from service.cli.completing import devices
from service.cli.devices.drivers import asking_drivers
from service.cli.exchange.results import Origin, Output
from service.cli.printing.output import ERRORS, print_line


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
    ] = SECONDS,
    origin: Origin = None,
    output: Output = None,
) -> None:
    """Measure runners-up or a T1 file on this machine, and write the results or send them to the service."""
    from service.cli.exchange.lines import check_origin, check_output

    url = server()
    check_origin(origin)
    if url is None:
        check_output(output)
    with (
        ExitStack() as drivers,
        open_access_of(None, probes=drivers.enter_context(asking_drivers())) as access,
    ):
        from service.cli.exchange.importing import import_of
        from service.cli.exchange.lines import write
        from service.cli.exchange.measuring import begun, file_of_service, of_file, results, send
        from service.cli.tuning.job_lists import job_of

        with file_of_service(access, url, device) if file is None else of_file(file) as listed:
            queued = access.do(import_of(listed, {"device": device, "seconds": seconds})).answer.queued
        for job_id in queued:
            print_line(begun(access.read(job_of(job_id))), ERRORS)
            # Imported here, after the first line: it brings the compiler and the search.
            from service.cli.tuning.running import work_on_job

            drivers.close()  # its children, which have answered the import, would stay as zombies while the job runs
            work_on_job(access, job_id, quiet=False)
        lines = results(access, queued, origin)
        ended = [access.read(job_of(job_id)) for job_id in queued]
    failed = [job for job in ended if job.best is None]
    if url is None or output is not None:
        write(lines, output)
    if url is not None:
        send(url, lines, queued)
    for job in failed:
        why = "" if job.error is None else f": {job.error}"
        print_line(f"job {job.id} measured no time{why}; `xetune jobs show {job.id}` shows its trials", ERRORS)
    if failed:
        raise typer.Exit(1)
