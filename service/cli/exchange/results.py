"""xetune export, import and measure: what was found goes from one database to another, and back measured."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from hal import resolve_device
from service.audit.log import record
from service.cli.backend.choice import server
from service.cli.backend.stored import Stored, stored
from service.cli.completing import devices, jobs
from service.cli.exchange import foreign, served
from service.cli.options.problem import AsJson, ProblemOptions, with_problem
from service.cli.printing.counted import counted
from service.cli.printing.output import CONSOLE, ERRORS, print_json
from service.cli.tuning.running import work_on_job
from service.errors import BadRequest
from service.exchange import exporting, measuring
from service.exchange.exporting import Selection
from service.exchange.importing import Imported, take_in
from service.exchange.measuring import Asked
from service.exchange.schemas import ImportOut
from service.files import write_atomically
from service.jobs.service import read_job
from service.keys.caller import COMMAND_LINE
from service.problem_query import to_query
from tuner.exchange.formats import Format, open_file, specification_of
from tuner.exchange.jsonl import Exchange, read_lines, write_lines
from tuner.exchange.records import Record, check_name

if TYPE_CHECKING:
    from xetune_client.calls import Query

File = Annotated[Path, typer.Argument(help="File of results.", exists=True, dir_okay=False)]
Output = Annotated[Path | None, typer.Option("-o", "--output", help="File to write (default: standard output).")]
Origin = Annotated[
    str | None, typer.Option(help="Name of the place that the results are from (default: this host's, the file's).")
]


@with_problem
def export_command(
    problem: ProblemOptions,
    device: Annotated[str | None, typer.Option(help="Only results for this device.", autocompletion=devices)] = None,
    job: Annotated[UUID | None, typer.Option(help="Only this job.", autocompletion=jobs)] = None,
    runners_up: Annotated[
        bool, typer.Option("--runners-up", help="Predicted configurations that nobody measured, in place of results.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Most runners-up of a problem and device.")] = 20,
    format: Annotated[
        Format, typer.Option(help="jsonl keeps everything; the others hold what one --job or --recording measured.")
    ] = Format.JSONL,
    recording: Annotated[UUID | None, typer.Option(help="This recording, in another format than jsonl.")] = None,
    origin: Origin = None,
    output: Output = None,
) -> None:
    """Write results: all, or of a problem (--m, --n, --k), a device, a job; or one job in another format."""
    url = server()
    if origin is not None:
        _check_origin(origin)
    if format is not Format.JSONL or recording is not None:
        if problem.given or device is not None or runners_up:
            raise BadRequest(f"--format {format.value} takes --job or --recording, and no other choice of results")
        if url is not None:
            served.export(url, format, job, recording, origin, output)
        else:
            foreign.export(format, job, recording, _name(origin), output)
        return
    if url is not None:
        asked: Query = to_query(problem.read()) if problem.given else {}
        which: Query = {"job": job, "device": device, "origin": origin, "runners_up": runners_up, "limit": limit}
        served.export_lines(url, {**which, **asked}, output)
        return
    selection = Selection(
        problem.read().key if problem.given else None,
        None if device is None else resolve_device(device).spec.id,
        job,
    )
    with stored() as store, store.database.read() as session:
        found = (
            exporting.runners_up(session, selection, limit)
            if runners_up
            else exporting.results(session, store.artifacts, selection)
        )
        _write(found, origin, output)


@with_problem
def import_command(
    file: File,
    problem: ProblemOptions,
    device: Annotated[
        str | None, typer.Option(help="What a file of another format was measured on; of --problem likewise.")
    ] = None,
    spec: Annotated[Path | None, typer.Option(help="T1 file that says problem and device.", exists=True)] = None,
    format: Annotated[Format | None, typer.Option(help="Format of the file (default: what it looks like).")] = None,
    origin: Origin = None,
    as_json: AsJson = False,
) -> None:
    """Take in results: JSON lines of another database, a cache of Kernel Tuner, a T4 file. All of a file or nothing."""
    if origin is not None:
        _check_origin(origin)
    opened = open_file(file, format)
    said = foreign.Said(problem.read() if problem.given else None, device, spec)
    if opened.format is not Format.JSONL:
        if (url := server()) is not None:
            served.take_in(url, file, opened, said, origin, as_json=as_json)
        else:
            foreign.take_in(opened, said, origin, as_json=as_json)
        return
    if said != foreign.Said():
        raise BadRequest("JSON lines say the problem and the device themselves: leave these options out")
    done = _take_in(file, origin)
    if isinstance(done, ImportOut) and done.queued:
        served.tell_queued(done, as_json=as_json)
        return
    if as_json:
        print_json({name: getattr(done, name) for name in ("origin", "jobs", "trials", "kernels", "known", "judged")})
        return
    CONSOLE.print(
        f"{counted(done.trials, 'trial')} of {counted(done.jobs, 'job')} with {counted(done.kernels, 'kernel')} "
        f"imported from {done.origin}; {counted(done.known, 'trial')} {_were(done.known)} here before",
        highlight=False,
        soft_wrap=True,
    )
    for device, count in done.judged.items():
        said = f"{counted(count, 'prediction')} {'is' if count == 1 else 'are'} now judged by a measurement"
        CONSOLE.print(f"{said}: `xetune devices show {device}`", highlight=False, soft_wrap=True)


def _take_in(file: Path, origin: str | None) -> Imported | ImportOut:
    if (url := server()) is not None:
        return served.take_in_lines(url, file, origin)
    exchange = _read(file)
    with stored() as store:
        return take_in(exchange, store.database, store.artifacts, lambda name: resolve_device(name).spec, origin)


def measure_command(
    file: File,
    device: Annotated[str | None, typer.Option(help="Device to measure on, in place of the file's.")] = None,
    seconds: Annotated[
        float, typer.Option(min=1.0, max=86_400.0, help="Longest run for a problem, in seconds.")
    ] = 600.0,
    origin: Origin = None,
    output: Output = None,
) -> None:
    """Measure what runners-up or a T1 file list on this machine, and write the results for `import`."""
    asked = _asked(file, device, seconds)
    with stored() as store:
        job_ids: list[UUID] = []
        for of in asked:
            with store.database.write() as session:
                job_ids.append(measuring.submit(session, of))
                record(session, COMMAND_LINE, "job.create", job_ids[-1])
            ERRORS.print(
                f"measuring {len(of.configs)} configurations of {of.problem} on {of.device.spec.id}, job {job_ids[-1]}",
                highlight=False,
                soft_wrap=True,
            )
            work_on_job(store, job_ids[-1], quiet=False)
        _write(_results(store, job_ids), origin, output)
        with store.database.read() as session:
            failed = [job for job in job_ids if read_job(session, job).best is None]
    if failed:
        ERRORS.print(
            f"no time was measured in {', '.join(str(job) for job in failed)}: `xetune jobs show`", soft_wrap=True
        )
        raise typer.Exit(1)


def _asked(file: Path, device: str | None, seconds: float) -> list[Asked]:
    opened = open_file(file)
    if opened.format is Format.JSONL:
        return measuring.understand(_read(file), resolve_device, device, seconds)
    space = specification_of(opened)
    return [measuring.understand_space(file.name, space, resolve_device, device, seconds)]


def _results(store: Stored, job_ids: list[UUID]) -> Iterator[Record]:
    with store.database.read() as session:
        said: set[object] = set()
        for job_id in job_ids:
            yield from exporting.results(session, store.artifacts, Selection(job_id=job_id), said)


def _read(file: Path) -> Exchange:
    with file.open("rb") as stream:
        return read_lines(stream)


def _write(records: Iterator[Record], origin: str | None, output: Path | None) -> None:
    name = _name(origin)
    found = list(records)
    lines = "".join(write_lines([exporting.header(name), *found]))
    if output is None:
        sys.stdout.write(lines)
        return
    write_atomically(output, lines.encode())
    CONSOLE.print(f"{len(found)} records written to {output}", highlight=False, soft_wrap=True)


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _name(origin: str | None) -> str:
    name = socket.gethostname() if origin is None else origin
    _check_origin(name)
    return name


def _check_origin(origin: str) -> None:
    try:
        check_name("--origin", origin)
    except ValueError as error:
        raise BadRequest(str(error)) from error
