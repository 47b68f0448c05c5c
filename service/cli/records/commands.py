"""xetune records: list, find, store, delete, push and pull results of other tuners."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, cast

import typer

from service.cli.access.opening import open_access
from service.cli.access.resource import Asked
from service.cli.default_command import FirstByDefault
from service.cli.devices.drivers import asking_drivers
from service.cli.ids import HELP, find_record
from service.cli.options.output import AsJson
from service.cli.printing.output import ERRORS, print_json, print_line
from service.cli.records.options import DeviceOption, DriverOption, OriginOption, VersionOption, read_versions
from service.cli.records.record_format import RecordFormat

_SHOWN = 50
app = typer.Typer(cls=FirstByDefault, help="Keep results of other tuners: Triton, vLLM, Kernel Tuner.")
RecordId = Annotated[str, typer.Argument(metavar="RECORD", help=f"Id of the record: {HELP}")]
Format = Annotated[RecordFormat, typer.Argument(help="Whose files these are.")]


@app.command("list")
def records_command(
    tuner: Annotated[str | None, typer.Option(help="Only those of this tuner.")] = None,
    kernel: Annotated[str | None, typer.Option(help="Only those of this kernel.")] = None,
    device: Annotated[str | None, typer.Option(help="Only those of this device: PCI id, id or name.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Maximum number of records.")] = _SHOWN,
    as_json: AsJson = False,
) -> None:
    """List results of other tuners, newest first."""
    from service.cli.records.record_tables import RECORDS, print_all

    with open_access() as access:
        asked: Asked = {"tuner": tuner, "kernel": kernel, "device": device, "limit": limit}
        found = access.read(RECORDS, asked).records
    if as_json:
        print_json({"records": [record.model_dump(mode="json") for record in found]})
    elif found:
        print_all(found)
    else:
        print_line("No records. Store those of another tuner: xetune records push triton ~/.triton/cache")


@app.command("show")
def show_command(record: RecordId, as_json: AsJson = False) -> None:
    """Show a record: its problem and its configuration."""
    from service.cli.records.record_tables import print_all, record_of

    with open_access() as access:
        found = access.read(record_of(find_record(access, record)))
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    print_all([found])
    print_json({"problem": found.problem, "config": found.config})


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
    from service.cli.records.stored import read_problem

    asked = read_problem(problem)
    # Of a stated driver only the device is needed, by its name.
    with nullcontext() if driver is not None else asking_drivers() as probes, open_access(probes) as access:
        from service.cli.records.record_tables import look_up, print_all

        found = look_up(access, tuner, kernel, asked, device, driver, read_versions(version))
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    print_all([found.record])
    print_json(found.record.config)
    for change in found.stale:
        print_line(f"stale: {change}", ERRORS)


@app.command("add")
def add_command(
    file: Annotated[
        Path,
        typer.Argument(exists=True, dir_okay=False, help="JSON of a record, of a list of them, or of {records: [..]}."),
    ],
    as_json: AsJson = False,
) -> None:
    """Store the records of a JSON file."""
    from pydantic import ValidationError

    from service.cli.options.documents import read_json
    from service.cli.records.stored import store
    from service.errors import BadRequest
    from service.http.validation_errors import faults_of
    from xetune_client import models

    content = cast("object", read_json("FILE", file, "a record"))
    listed = cast("dict[str, object]", content).get("records", [content]) if isinstance(content, dict) else content
    if not listed:
        raise BadRequest(f"FILE {file}: expected at least one record, got none")
    try:
        body = models.RecordsBody.model_validate({"records": listed})
    except ValidationError as error:
        faults = faults_of(error.errors(include_url=False))
        raise BadRequest(f"FILE {file}: " + "; ".join(f"{each.field}: {each.message}" for each in faults)) from error
    store(body.records, as_json)


@app.command("delete")
def delete_command(record: RecordId) -> None:
    """Delete a record."""
    from service.cli.records.record_tables import removal_of

    with open_access() as access:
        access.remove(removal_of(record_id := find_record(access, record)))
    print_line(f"record {record_id} is deleted")


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
    from service.cli.records.devices import devices_here, stated_device
    from service.cli.records.formats import bodies_of
    from service.cli.records.stored import read_problem, store
    from service.errors import BadRequest
    from xetune_client import models
    from xetune_client.tuners import InvalidEntry, Stated

    of_files = format in (RecordFormat.VLLM, RecordFormat.SGLANG) and device == "auto"
    stated = Stated(
        models.RecordDevice(name="auto", driver=driver) if of_files else stated_device(device, driver, devices_here()),
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
    store(found, as_json)


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
    from hal.probe.probe import probing

    with probing() as probes:
        # Imported here, while the drivers answer.
        from service.cli.records.devices import devices_here, name_here, stated_device
        from service.cli.records.formats import restore
        from service.cli.records.stored import tell_files
        from service.errors import BadRequest
        from xetune_client.tuners import InvalidEntry

        with open_access(probes) as access:
            here = devices_here(probes())
            place = stated_device(device, driver, here)
            name = name or name_here(place, here)
            try:
                found = restore(
                    access, format, folder, place, read_versions(version), name=name, kernel=kernel, stale=stale
                )
            except InvalidEntry as error:
                raise BadRequest(str(error)) from error
    tell_files(found, folder, as_json)
