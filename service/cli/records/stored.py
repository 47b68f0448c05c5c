"""Storage of records in requests within limits."""

from pathlib import Path
from typing import TYPE_CHECKING

from service.api.keys.caller import COMMAND_LINE
from service.api.records.schemas import RecordsBody, StoredRecord, StoredRecords
from service.cli.access.opening import open_access
from service.cli.access.resource import Action, Done
from service.cli.printing.counted import counted
from service.cli.printing.output import ERRORS, print_json, print_line
from service.errors import BadRequest
from xetune_client import models

if TYPE_CHECKING:
    from service.cli.records.formats import Restored
    from service.http.context import Context

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
    stored: list[StoredRecord] = []
    with open_access() as access:
        for some in _requests(bodies):
            stored += access.do(storage_of(models.RecordsBody(records=some))).answer.records
    new = sum(each.new for each in stored)
    if as_json:
        print_json({"records": [each.model_dump(mode="json") for each in stored], "new": new})
    else:
        print_line(f"{counted(new, 'record')} stored, {len(stored) - new} here before")


def storage_of(body: models.RecordsBody) -> Action[StoredRecords]:
    """Return the action that stores the records of a request."""

    def store(context: "Context") -> Done[StoredRecords]:
        from service.api.records import service

        checked = _checked(body)
        with context.database.write() as session:
            return Done(service.store(session, checked, context.settings, COMMAND_LINE))

    return Action("/v1/records", body, StoredRecords, store, creates=True)


def _checked(body: models.RecordsBody) -> RecordsBody:
    """Return a request as its route's model.

    Raises:
        Malformed: it does not match.
    """
    import json

    from pydantic import ValidationError

    from service.errors import Malformed
    from service.http.known_fields import KnownFields
    from service.http.validation_errors import SHOWN_ERRORS, faults_of
    from xetune_client.wire import to_json

    document = json.loads(to_json(body))
    try:
        return RecordsBody.model_validate(document)
    except ValidationError as error:
        faults = error.errors(include_url=False)[:SHOWN_ERRORS]
        for fault in faults:
            fault["loc"] = ("body", *fault["loc"])
        known = KnownFields({"body": RecordsBody.model_json_schema()})
        raise Malformed(faults_of(faults, document, known)) from error


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
