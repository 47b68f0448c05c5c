"""xetune export and import: what was found goes from one database to another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from hal import resolve_device
from service.api.exchange import exporting
from service.api.exchange.exporting import Selection
from service.api.exchange.importing import (
    Imported,
    take_in,
)
from service.api.exchange.schemas import ImportOut
from service.cli.backend.choice import server
from service.cli.backend.stored import stored
from service.cli.completing import devices, jobs
from service.cli.exchange import foreign, served
from service.cli.exchange.lines import check_origin, lines_of, origin_of, read_file, tell_imported, write
from service.cli.options.problem import AsJson, ProblemOptions, with_problem
from service.errors import BadRequest
from service.http.problem_query import to_query
from tuner.exchange.formats import Format, open_file

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
        check_origin(origin)
    if format is not Format.JSONL or recording is not None:
        if problem.given or device is not None or runners_up:
            raise BadRequest(f"--format {format.value} takes --job or --recording, and no other choice of results")
        if url is not None:
            served.export(url, format, job, recording, origin, output)
        else:
            foreign.export(format, job, recording, origin_of(origin), output)
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
        write(lines_of(found, origin), output, chosen=selection != Selection() and not runners_up)


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
        check_origin(origin)
    opened = open_file(file, format)
    said = foreign.Said(problem.read() if problem.given else None, device, spec)
    if opened.format is not Format.JSONL:
        if (url := server()) is not None:
            served.take_in(url, file, opened, said, origin, as_json=as_json)
        else:
            foreign.take_in(opened, said, origin, as_json=as_json)
        return
    url = server()
    if said != foreign.Said(device=None if url is None else device):  # a service may measure runners-up on another
        raise BadRequest("JSON lines say the problem and the device themselves: leave them out")
    done = _take_in(url, file, device, origin)
    if isinstance(done, ImportOut) and done.queued:
        served.tell_queued(done, as_json=as_json)
        return
    tell_imported(done, as_json=as_json)


def _take_in(url: str | None, file: Path, device: str | None, origin: str | None) -> Imported | ImportOut:
    if url is not None:
        return served.take_in_lines(url, file.read_bytes(), device, origin)
    exchange = read_file(file)
    with stored() as store:
        return take_in(exchange, store.database, store.artifacts, lambda name: resolve_device(name).spec, origin)
