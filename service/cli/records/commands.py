"""xetune records: list, find, store, delete, push and pull results of other tuners."""

from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.table import Column

from service.cli.connection import connect
from service.cli.options.documents import read_json
from service.cli.options.problem import AsJson
from service.cli.printing.counted import counted
from service.cli.printing.output import CONSOLE, ERRORS, number_column, print_json, print_line, text_table
from service.cli.records.formats import RecordFormat, Restored, bodies_of, restore
from service.cli.records.options import (
    DeviceOption,
    DriverOption,
    OriginOption,
    VersionOption,
    read_versions,
    stated_device,
)
from service.errors import BadRequest
from xetune_client import models
from xetune_client.tuners import InvalidEntry, Stated

_SHOWN, _A_REQUEST = 50, 200
_A_REQUEST_BYTES = 2**19
"""Half of what a service accepts by default, since escapes may lengthen a text."""
app = typer.Typer(help="Keep results of other tuners: Triton, vLLM, Kernel Tuner.", invoke_without_command=True)

RecordId = Annotated[UUID, typer.Argument(help="Id of the record.")]
Format = Annotated[RecordFormat, typer.Argument(help="Whose files these are.")]


@app.callback()
def records_command(
    context: typer.Context,
    tuner: Annotated[str | None, typer.Option(help="Only those of this tuner.")] = None,
    kernel: Annotated[str | None, typer.Option(help="Only those of this kernel.")] = None,
    device: Annotated[str | None, typer.Option(help="Only those of this device: PCI id, id or name.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Maximum number of records.")] = _SHOWN,
    as_json: AsJson = False,
) -> None:
    """List results of other tuners, newest first."""
    if context.invoked_subcommand is not None:
        return
    with connect() as client:
        found = client.records(tuner=tuner, kernel=kernel, device=device, limit=limit).records
    if as_json:
        print_json({"records": [record.model_dump(mode="json") for record in found]})
    elif found:
        _print(found)
    else:
        print_line("No records. Store those of another tuner: xetune records push triton ~/.triton/cache")


@app.command("show")
def show_command(record: RecordId) -> None:
    """Print a record as JSON."""
    with connect() as client:
        print_json(client.record(record).model_dump(mode="json"))


@app.command("find")
def find_command(
    tuner: Annotated[str, typer.Option(help="The tuner.")],
    kernel: Annotated[str, typer.Option(help="The kernel.")],
    problem: Annotated[str, typer.Option(help="The problem, as JSON.")],
    device: Annotated[str, typer.Option(help="PCI id, id or name of the device, or auto.")] = "auto",
    driver: DriverOption = None,
    version: VersionOption = None,
    as_json: AsJson = False,
) -> None:
    """Look up the result of a tuner for a problem, and what has changed since."""
    asked = read_problem(problem)
    with connect() as client:
        found = client.find_record(tuner, kernel, asked, device, driver=driver, versions=read_versions(version))
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    _print([found.record])
    print_json(found.record.config)
    for change in found.stale:
        print_line(f"stale: {change}", ERRORS)


@app.command("add")
def add_command(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="JSON of a record, or of {records: [..]}.")],
    as_json: AsJson = False,
) -> None:
    """Store the records of a JSON file."""
    content = read_json("FILE", file, "a record")
    listed = content.get("records", [content])
    body = models.RecordsBody.model_validate({"records": listed})
    _store(body.records, as_json)


@app.command("delete")
def delete_command(record: RecordId) -> None:
    """Delete a record."""
    with connect() as client:
        client.delete_record(record)
    print_line(f"record {record} deleted")


@app.command("push")
def push_command(
    format: Format,
    path: Annotated[Path, typer.Argument(exists=True, help="File of Kernel Tuner, or folder with the files.")],
    device: DeviceOption = "auto",
    driver: DriverOption = None,
    version: VersionOption = None,
    origin: OriginOption = None,
    kernel: Annotated[str | None, typer.Option(help="Kernel of a T4 file; of others only this one.")] = None,
    problem: Annotated[str | None, typer.Option(help="Problem of a T4 file, as JSON.")] = None,
    best: Annotated[int, typer.Option(min=1, max=1000, help="Number of results of a T4 file, the fastest.")] = 1,
    match: Annotated[str | None, typer.Option(help="Only files whose device name has this text.")] = None,
    as_json: AsJson = False,
) -> None:
    """Store the results in files of Kernel Tuner, Triton, vLLM or SGLang."""
    of_files = format in (RecordFormat.VLLM, RecordFormat.SGLANG) and device == "auto"
    stated = Stated(
        models.RecordDevice(name="auto", driver=driver) if of_files else stated_device(device, driver),
        read_versions(version),
        origin,
    )
    asked = None if problem is None else read_problem(problem)
    try:
        found = list(bodies_of(format, path, stated, kernel=kernel, problem=asked, best=best, match=match))
    except InvalidEntry as error:
        raise BadRequest(str(error)) from error
    if not found:
        raise BadRequest(f"{path}: expected files of {format}, got none")
    _store(found, as_json)


@app.command("pull")
def pull_command(
    format: Format,
    folder: Annotated[Path, typer.Argument(file_okay=False, help="Folder that the files are written into.")],
    device: DeviceOption = "auto",
    driver: DriverOption = None,
    version: VersionOption = None,
    name: Annotated[str | None, typer.Option(help="Name of the device in this driver (default: as probed).")] = None,
    kernel: Annotated[str | None, typer.Option(help="Only those of this kernel.")] = None,
    stale: Annotated[bool, typer.Option("--stale", help="Also those of another driver or version.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write the files of Triton, vLLM or SGLang for a device and driver into a folder."""
    place = stated_device(device, driver)
    with connect() as client:
        try:
            found = restore(
                client, format, folder, place, read_versions(version), name=name, kernel=kernel, stale=stale
            )
        except InvalidEntry as error:
            raise BadRequest(str(error)) from error
    _tell(found, folder, as_json)


def read_problem(text: str) -> dict[str, object]:
    """Read the JSON object of an option.

    Raises:
        BadRequest: it is none.
    """
    import json

    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"--problem: expected a JSON object, got {text[:80]!r}: {error}") from error
    if not isinstance(found, dict):
        raise BadRequest(f"--problem: expected a JSON object, got {text[:80]!r}")
    return found


def _store(bodies: list[models.RecordBody], as_json: bool) -> None:
    stored: list[models.StoredRecord] = []
    with connect() as client:
        for some in _requests(bodies):
            stored += client.store_records(models.RecordsBody(records=some)).records
    new = sum(each.new for each in stored)
    if as_json:
        print_json({"records": [each.model_dump(mode="json") for each in stored], "new": new})
    else:
        print_line(f"{counted(new, 'record')} stored, {len(stored) - new} here before")


def _requests(bodies: list[models.RecordBody]) -> list[list[models.RecordBody]]:
    """Split records into requests within the limits of a service."""
    found: list[list[models.RecordBody]] = [[]]
    room = _A_REQUEST_BYTES
    for body in bodies:
        size = len(body.model_dump_json())
        if len(found[-1]) == _A_REQUEST or (found[-1] and size > room):
            found.append([])
            room = _A_REQUEST_BYTES
        found[-1].append(body)
        room -= size
    return found


def _tell(found: Restored, folder: Path, as_json: bool) -> None:
    if as_json:
        print_json({"files": list(map(str, found.files)), "stale": found.stale})
        return
    print_line(f"{counted(len(found.files), 'file')} written to {folder}")
    for what, changes in found.stale.items():
        print_line(f"stale, not written: {what}: {'; '.join(changes)}", ERRORS)


def _print(found: list[models.RecordOut]) -> None:
    identity = Column("record", overflow="fold", min_width=36)
    table = text_table(identity, "kernel", "device, driver", "versions", number_column("us"))
    for row in found:
        versions = "\n".join(f"{name} {version}" for name, version in row.versions.items())
        time = "-" if row.time_us is None else f"{row.time_us:.4g}"
        table.add_row(
            str(row.id), f"{row.tuner}\n{row.kernel}", f"{row.device}\n{row.driver or '-'}", versions or "-", time
        )
    CONSOLE.print(table)
