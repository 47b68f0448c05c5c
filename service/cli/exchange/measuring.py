"""Measurements of runners-up on this machine, and where their results go."""

from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from io import BytesIO
from pathlib import Path
from uuid import UUID

from hal.process.temporary import temporary_folder
from service.api.jobs.schemas import JobOut
from service.cli.access.connection import of_service
from service.cli.access.opening import Access
from service.cli.devices.resources import device_of
from service.cli.exchange.exporting import EXPORT
from service.cli.exchange.lines import check_whole, tell_imported
from service.cli.printing.counted import counted
from service.cli.printing.output import ERRORS, print_line
from service.errors import BadRequest
from service.schemas import to_problem
from tuner.exchange.file_format import Format
from tuner.exchange.formats import open_file, specification_of
from tuner.exchange.jsonl import join_files, read_lines
from xetune_client import ClientError


def of_file(file: Path) -> nullcontext[Path]:
    """Return a file that lists configurations to measure.

    Raises:
        BadRequest: it holds results.
        InvalidFile: it is no T1 file.
    """
    opened = open_file(file)
    if opened.format is not Format.JSONL:
        specification_of(opened)
    else:
        with file.open("rb") as stream:
            exchange = read_lines(stream)
        if exchange.trials:
            message = f"{file.name}: expected configurations to measure, got results: `xetune import` reads them"
            raise BadRequest(message)
    return nullcontext(file)


@contextmanager
def file_of_service(access: Access, url: str | None, device: str | None) -> Generator[Path]:
    """Keep a file of a service's predicted configurations without a measurement for a device of this machine.

    Raises:
        BadRequest: no service or no device is named, or there is nothing to measure.
    """
    if url is None or device is None:
        raise BadRequest(
            "expected FILE, which `xetune export --runners-up` writes, or --server and --device: then the service's "
            "runners-up of that device are measured"
        )
    found = access.read(device_of(device))
    of = found.emulates or found.id
    with of_service(url) as remote:
        lines = remote.export_results(device=of, runners_up=True)
    if not read_lines(BytesIO(lines)).candidates:
        raise BadRequest(f"{url} has no configuration of {of} that is predicted and was not measured")
    with temporary_folder("measure") as folder:
        file = folder / "runners-up.jsonl"
        file.write_bytes(lines)
        yield file


def begun(job: JobOut) -> str:
    """Return the line for a job that begins."""
    problem, count = to_problem(job.problem), job.budget.trials - 1  # less the default
    return f"measuring {counted(count, 'configuration')} of {problem} on {job.device}, job {job.id}"


def results(access: Access, jobs: list[UUID], origin: str | None) -> bytes:
    """Return the results of several jobs below one header.

    Raises:
        Conflict: a row of them cannot be read.
    """
    files = [access.fetch(EXPORT, {"job": job, "origin": origin}).content for job in jobs]
    for file in files:
        check_whole(file)
    return "".join(join_files(files)).encode()


def send(url: str, lines: bytes, jobs: list[UUID]) -> None:
    """Send results to a service; say where they are if that fails."""
    try:
        with of_service(url) as remote:
            done = remote.import_results(lines)
    except ClientError:
        again = " and ".join(f"`xetune export --job {job} -o FILE`" for job in jobs)
        told = f"the results did not reach {url}; they are in the database of this machine: {again}, then import that"
        print_line(told, ERRORS)
        raise
    tell_imported(done, as_json=False)
