"""Storage of records in requests within limits."""

from pathlib import Path
from typing import TYPE_CHECKING

from service.cli.access.connection import connect
from service.cli.printing.counted import counted
from service.cli.printing.output import ERRORS, print_json, print_line
from service.errors import BadRequest
from xetune_client import models

if TYPE_CHECKING:
    from service.cli.records.formats import Restored

_A_REQUEST = 200
_A_REQUEST_BYTES = 2**19
"""Half of what a service accepts by default, since escapes may lengthen a text."""


def read_problem(text: str) -> dict[str, object]:
    """Read the JSON object of an option.

    Raises:
        BadRequest: it is none.
    """
    import json

    from tuner.exchange.documents import strict_object

    try:
        found: object = json.loads(text, object_pairs_hook=strict_object)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"--problem: expected a JSON object, got {text[:80]!r}: {error}") from error
    if not isinstance(found, dict):
        raise BadRequest(f"--problem: expected a JSON object, got {text[:80]!r}")
    return found


def store(bodies: list[models.RecordBody], as_json: bool) -> None:
    """Store records in requests within the limits of a service, and print how many are new."""
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


def tell_files(found: "Restored", folder: Path, as_json: bool) -> None:
    """Print how many files were written, and which records are stale."""
    if as_json:
        print_json({"files": list(map(str, found.files)), "stale": found.stale})
        return
    print_line(f"{counted(len(found.files), 'file')} written to {folder}")
    for what, changes in found.stale.items():
        print_line(f"not written without --stale: {what}: {'; '.join(changes)}", ERRORS)
