"""xetune measure: what a file or a service lists is measured here, and the results go where they are asked for."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from hal import resolve_device
from service.api.audit.log import record
from service.api.exchange import (
    exporting,
    measuring,
)
from service.api.exchange.exporting import Selection
from service.api.exchange.measuring import Asked
from service.api.jobs.service import read_job
from service.api.keys.caller import COMMAND_LINE
from service.cli.backend.choice import server
from service.cli.backend.chosen import of_service
from service.cli.backend.stored import Stored, stored
from service.cli.completing import devices
from service.cli.exchange import served
from service.cli.exchange.lines import check_origin, lines_of, read_file, tell_imported, write
from service.cli.exchange.results import Origin, Output
from service.cli.printing.counted import counted
from service.cli.printing.output import ERRORS, print_line
from service.cli.tuning.running import work_on_job
from service.errors import BadRequest, ServiceError
from tuner.exchange.formats import Format, open_file, specification_of
from tuner.exchange.jsonl import read_lines
from tuner.exchange.records import Record


def measure_command(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Runners-up or a T1 file (with --server the service's runners-up, if left out).",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Device to measure on, in place of the file's.", autocompletion=devices)
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=1.0, max=86_400.0, help="Longest run for a problem, in seconds.")
    ] = 600.0,
    origin: Origin = None,
    output: Output = None,
) -> None:
    """Measure on this machine what runners-up or a T1 file list, and write the results or send them to the service."""
    url = server()
    if origin is not None:
        check_origin(origin)
    asked = _asked_by_service(url, device, seconds) if file is None else _asked_by_file(file, device, seconds)
    with stored() as store:
        job_ids: list[UUID] = []
        for of in asked:
            with store.database.write() as session:
                job_ids.append(measuring.submit(session, of))
                record(session, COMMAND_LINE, "job.create", job_ids[-1])
            _tell(
                f"measuring {counted(len(of.configs), 'configuration')} of {of.problem} on {of.device.spec.id}, "
                f"job {job_ids[-1]}"
            )
            work_on_job(store, job_ids[-1], quiet=False)
        lines = lines_of(_results(store, job_ids), origin)
        with store.database.read() as session:
            failed = [job for job in job_ids if read_job(session, job).best is None]
    if url is None or output is not None:
        write(lines, output)
    if url is not None:
        _send(url, lines, job_ids)
    if failed:
        _tell(f"no time was measured in {', '.join(str(job) for job in failed)}: `xetune jobs show`")
        raise typer.Exit(1)


def _asked_by_file(file: Path, device: str | None, seconds: float) -> list[Asked]:
    opened = open_file(file)
    if opened.format is Format.JSONL:
        return measuring.understand(read_file(file), resolve_device, device, seconds)
    space = specification_of(opened)
    return [measuring.understand_space(file.name, space, resolve_device, device, seconds)]


def _asked_by_service(url: str | None, device: str | None, seconds: float) -> list[Asked]:
    """What the service predicted for a device that is here, and nobody measured.

    Raises:
        BadRequest: no service or no device is named, or there is nothing to measure.
    """
    if url is None or device is None:
        raise BadRequest(
            "expected FILE, which `xetune export --runners-up` writes, or --server and --device: then the service's "
            "runners-up of that device are measured"
        )
    spec = resolve_device(device).spec
    of = spec.emulates or spec.id
    with of_service(url) as remote:
        lines = remote.export_results({"runners_up": True, "device": of}).content
    exchange = read_lines(BytesIO(lines))
    if not exchange.candidates:
        raise BadRequest(f"{url} has no configuration of {of} that is predicted and was not measured")
    return measuring.understand(exchange, resolve_device, device, seconds)


def _results(store: Stored, job_ids: list[UUID]) -> Iterator[Record]:
    with store.database.read() as session:
        said: set[object] = set()
        for job_id in job_ids:
            yield from exporting.results(session, store.artifacts, Selection(job_id=job_id), said)


def _send(url: str, lines: bytes, job_ids: list[UUID]) -> None:
    try:
        done = served.take_in_lines(url, lines, None, None)
    except ServiceError:
        again = " and ".join(f"`xetune export --job {job} -o FILE`" for job in job_ids)
        _tell(f"the results did not get to {url}; they are in the database of this machine: {again}, then import that")
        raise
    tell_imported(done, as_json=False)


def _tell(text: str) -> None:
    print_line(text, ERRORS)
