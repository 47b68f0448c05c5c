"""xetune export and import: results as files."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from service.cli.access.opening import open_access
from service.cli.access.resource import Asked
from service.cli.completing import devices, jobs
from service.cli.devices.drivers import asking_drivers
from service.cli.ids import HELP, find_job
from service.cli.options.output import AsJson
from service.cli.options.problem import ProblemOptions, with_problem
from tuner.exchange.file_format import Format

File = Annotated[Path, typer.Argument(help="File of results.", exists=True, dir_okay=False)]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="File to write (default: standard output, unless it is a terminal)."),
]
Origin = Annotated[str | None, typer.Option(help="Origin of the results (default: this host, or the file's origin).")]


@with_problem
def export_command(
    problem: ProblemOptions,
    device: Annotated[str | None, typer.Option(help="Only results for this device.", autocompletion=devices)] = None,
    job: Annotated[str | None, typer.Option(help=f"Only this job: {HELP}", autocompletion=jobs)] = None,
    runners_up: Annotated[
        bool, typer.Option("--runners-up", help="Predicted configurations without a measurement, in place of results.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum runners-up of a problem and device.")] = 20,
    kit: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --runners-up: write a kit that measures them with Python, numpy and pyopencl alone.",
        ),
    ] = None,
    format: Annotated[
        Format,
        typer.Option(
            help="jsonl contains everything; other formats contain the measurements of one --job or --recording."
        ),
    ] = Format.JSONL,
    recording: Annotated[
        str | None, typer.Option(help=f"Recording to export, in a format other than jsonl: {HELP}")
    ] = None,
    origin: Origin = None,
    output: Output = None,
) -> None:
    """Export results: all, or of a problem (--m, --n, --k), a device or a job; or one job in another format."""
    from service.cli.devices.resources import device_of
    from service.cli.exchange.exporting import EXPORT
    from service.cli.exchange.imported import device_id
    from service.cli.exchange.lines import check_origin, check_output, check_whole, count_records, write
    from service.errors import BadRequest
    from service.http.problem_query import to_query

    check_origin(origin)
    if kit is None:
        check_output(output)
    if device is not None:
        # Imported here, as only a device that is asked for needs those that there are.
        from hal import check_executes

        check_executes(device)
    if format is not Format.JSONL or recording is not None:
        if problem.given or device is not None or runners_up:
            raise BadRequest(f"--format {format.value} takes --job or --recording, and no other choice of results")
        from service.cli.exchange import foreign

        with open_access() as access:
            foreign.export(access, format, job, recording, origin, output)
        return
    asked = to_query(problem.read()) if problem.given else {}
    if kit is not None:
        if not runners_up or job is not None or output is not None:
            raise BadRequest("--kit FILE goes with --runners-up, and with no --job and no --output")
        if str(kit) == "-":
            raise BadRequest("--kit expects the name of a file to write, such as kit.pyz, got -: it is an archive")
        from service.cli.exchange.kit import write_kit

        with open_access() as access:
            of_kit = None if device is None else access.read(device_of(device))
            write_kit(access, kit, of_kit, {"origin": origin, "limit": limit, **asked})
        return
    with nullcontext() if device is None else asking_drivers() as probes, open_access(probes) as access:
        of = None if device is None else device_id(access, device)
        of_job = None if job is None else find_job(access, job)
        chosen: Asked = {
            "job": of_job,
            "device": of,
            "origin": origin,
            "runners_up": runners_up,
            "limit": limit,
            **asked,
        }
        lines = access.fetch(EXPORT, chosen).content
        check_whole(lines)
        if device is not None and not count_records(lines):
            access.read(device_of(device))  # fails if there is no such device
    is_chosen = problem.given or device is not None or job is not None
    write(lines, output, chosen=bool(is_chosen) and not runners_up)


@with_problem
def import_command(
    file: File,
    problem: ProblemOptions,
    device: Annotated[
        str | None, typer.Option(help="Device of a file that does not state it; also give its problem.")
    ] = None,
    spec: Annotated[Path | None, typer.Option(help="T1 file with the problem and device.", exists=True)] = None,
    format: Annotated[Format | None, typer.Option(help="Format of the file (default: detected).")] = None,
    origin: Origin = None,
    as_json: AsJson = False,
) -> None:
    """Import results: JSON lines of another database, a cache of Kernel Tuner or a T4 file, all or nothing."""
    from service.cli.exchange.lines import check_origin

    check_origin(origin)
    with asking_drivers() as probes:
        # Imported here, while the drivers answer.
        from service.cli.exchange import foreign
        from service.cli.exchange.imported import tell_queued
        from service.cli.exchange.lines import tell_imported
        from tuner.exchange.formats import open_file

        opened = open_file(file, format)
        said = foreign.Said(problem.read() if problem.given else None, device, spec)
        with open_access(probes) as access:
            done = foreign.import_file(access, file, opened, said, origin)
            if done.queued:
                tell_queued(done, as_json=as_json)
            elif done.recording is not None:
                foreign.tell_recording(access, done.recording, done, opened.name, as_json=as_json)
            else:
                tell_imported(done, as_json=as_json)
