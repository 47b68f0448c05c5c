"""/v1/records: results of other tuners."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import TypeAdapter, ValidationError

from db.values import JsonObject
from service.api.audit.log import record
from service.api.audit.schemas import Outcome
from service.api.keys.guard import (
    READ,
    TUNE,
    CallerDep,
    guarded_router,
)
from service.api.records import service
from service.api.records.devices import place_of
from service.api.records.json_schema import record_schema
from service.api.records.schemas import (
    DeviceName,
    DriverName,
    KernelName,
    Problem,
    RecordLookupOut,
    RecordOut,
    RecordPage,
    RecordQuery,
    RecordsBody,
    StoredRecord,
    StoredRecords,
    TunerName,
)
from service.errors import BadRequest, FieldError
from service.http.deps import (
    ContextDep,
    DatabaseDep,
    ReadSessionDep,
)
from service.http.idempotency import OnceDep
from service.http.repeated_fields import repeated_in_body
from service.http.responses import (
    BAD_REQUEST,
    CONFLICT,
    NOT_FOUND,
    TOO_LARGE,
    Responses,
)
from service.http.validation_errors import message_of, shown

router = guarded_router("/v1/records", "records")

_ID = "01970a3c-0000-7000-8000-000000000000"
_CREATED: Responses = {200: {"model": StoredRecords, "description": "All of them are in force already"}}
_SCHEMA: Responses = {
    200: {
        "description": "The schema",
        "content": {"application/json": {"schema": {"type": "object"}, "example": record_schema()}},
    }
}
_PROBLEM = TypeAdapter[JsonObject](Problem)
RecordId = Annotated[UUID, Path(description="Id of the record", examples=[_ID])]
_VERSION = r"^[^=\x00-\x1f\x7f]{1,64}=[^\x00-\x1f\x7f]{1,100}$"
Tuner = Annotated[TunerName, Query(description="The tuner", examples=["triton"])]
Kernel = Annotated[KernelName, Query(description="Identity of the kernel", examples=["matmul_kernel"])]
_DEVICE = "PCI id, id or name of the device, or auto for that of the service"


@router.post("", status_code=201, responses=_CREATED | BAD_REQUEST | CONFLICT | TOO_LARGE, dependencies=[TUNE])
def store_records(
    body: RecordsBody, context: ContextDep, response: Response, by: CallerDep, once: OnceDep
) -> StoredRecords:
    """Store results of another tuner: all, or none if one is malformed. Those in force already are not stored again.

    With a time, a result replaces the one of the same configuration; without one, that of any configuration. Only
    results of the same problem, device, driver and versions are replaced. Replaced ones are listed, but not looked up.
    """
    with once.write() as session:
        stored = service.add_all(session, body.records, context.settings)
        for record_id, is_new in stored:
            record(session, by, "record.create", record_id, Outcome.DONE if is_new else Outcome.UNCHANGED)
        found = StoredRecords(records=[StoredRecord(id=record_id, new=is_new) for record_id, is_new in stored])
        status = HTTPStatus.CREATED if any(is_new for _, is_new in stored) else HTTPStatus.OK
        return once.answer(session, response, found, status)


@router.get("", dependencies=[READ])
def list_records(session: ReadSessionDep, query: Annotated[RecordQuery, Query()]) -> RecordPage:
    """List results of other tuners, newest first, those that were replaced, too."""
    return service.list_records(session, query.filters(), query.limit, query.before)


@router.get("/lookup", responses=BAD_REQUEST | NOT_FOUND, dependencies=[READ])
def look_up_record(
    context: ContextDep,
    tuner: Tuner,
    kernel: Kernel,
    problem: Annotated[
        str, Query(max_length=2**15, description="The problem, as JSON", examples=['{"M": 512, "N": 384, "K": 1024}'])
    ],
    device: Annotated[DeviceName, Query(description=_DEVICE, examples=["8086:E211"])],
    driver: Annotated[
        DriverName | None,
        Query(
            description="Driver of the caller; not stated: that of the service's device of that id, else not compared",
            examples=["25.18.33578.15"],
        ),
    ] = None,
    version: Annotated[
        list[Annotated[str, Query(pattern=_VERSION)]] | None,
        Query(max_length=32, description="Versions of the caller, name=version", examples=[["triton=3.9.0"]]),
    ] = None,
) -> RecordLookupOut:
    """Look up the result of a tuner for a problem of a kernel on a device, with what has changed since.

    A driver or version is compared only if the record and the caller both state it. A 404 means that nothing is stored.
    """
    place = place_of(context, device, driver)
    versions = dict(each.split("=", 1) for each in version or ())
    question = service.Question(tuner, kernel, _problem(problem), versions)
    with context.database.read() as session:
        return service.look_up(session, question, place)


@router.get("/schema", responses=_SCHEMA, dependencies=[READ])
def read_record_schema() -> JsonObject:
    """Return the JSON Schema of a record, for programs that write them."""
    return record_schema()


@router.get("/{record_id:uuid}", responses=NOT_FOUND, dependencies=[READ])
def read_record(record_id: RecordId, session: ReadSessionDep) -> RecordOut:
    """Return a record."""
    return service.read(session, record_id)


@router.delete("/{record_id:uuid}", status_code=204, responses=NOT_FOUND, dependencies=[TUNE])
def delete_record(record_id: RecordId, database: DatabaseDep, by: CallerDep) -> Response:
    """Delete a record; the one that it replaced is in force again."""
    with database.write() as session:
        service.delete(session, record_id)
        record(session, by, "record.delete", record_id)
    return Response(status_code=204)


def _problem(text: str) -> JsonObject:
    try:
        problem = _PROBLEM.validate_json(text)
    except ValidationError as error:
        message = message_of(error.errors()[0])
        if ", got " not in message:
            message = f"{message}, got {shown(text)}"
        raise BadRequest(message, rule="problem-json", errors=[FieldError(field="problem", message=message)]) from error
    for fault in repeated_in_body(text.encode()):
        (_, *place), message = fault["loc"], f"{fault['msg']}, got {shown(fault['input'])}"
        field = ".".join(map(str, ("problem", *place)))
        raise BadRequest(f"{field}: {message}", rule="problem-json", errors=[FieldError(field=field, message=message)])
    return problem
