"""/v1/records: results of other tuners."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query, Response

from db.values import JsonObject
from service.api.keys.guard import (
    READ,
    TUNE,
    CallerDep,
    guarded_router,
)
from service.api.records import service
from service.api.records.json_schema import record_schema
from service.api.records.lookup import find
from service.api.records.schemas import (
    LookupQuery,
    RecordLookupOut,
    RecordOut,
    RecordPage,
    RecordQuery,
    RecordsBody,
    StoredRecords,
)
from service.http.deps import (
    ContextDep,
    DatabaseDep,
    ReadSessionDep,
)
from service.http.idempotency import OnceDep
from service.http.responses import (
    BAD_REQUEST,
    CONFLICT,
    NOT_FOUND,
    TOO_LARGE,
    Responses,
)

router = guarded_router("/v1/records", "records")

_ID = "01970a3c-0000-7000-8000-000000000000"
_CREATED: Responses = {200: {"model": StoredRecords, "description": "All of them are in force already"}}
_SCHEMA: Responses = {
    200: {
        "description": "The schema",
        "content": {"application/json": {"schema": {"type": "object"}, "example": record_schema()}},
    }
}
RecordId = Annotated[UUID, Path(description="Id of the record", examples=[_ID])]


@router.post("", status_code=201, responses=_CREATED | BAD_REQUEST | CONFLICT | TOO_LARGE, dependencies=[TUNE])
def store_records(
    body: RecordsBody, context: ContextDep, response: Response, by: CallerDep, once: OnceDep
) -> StoredRecords:
    """Store results of another tuner: all, or none if one is malformed. Those in force already are not stored again.

    With a time, a result replaces the one of the same configuration; without one, that of any configuration. Only
    results of the same problem, device, driver and versions are replaced. Replaced ones are listed, but not looked up.
    """
    with once.write() as session:
        found = service.store(session, body, context.settings, by)
        status = HTTPStatus.CREATED if any(stored.new for stored in found.records) else HTTPStatus.OK
        return once.answer(session, response, found, status)


@router.get("", dependencies=[READ])
def list_records(session: ReadSessionDep, query: Annotated[RecordQuery, Query()]) -> RecordPage:
    """List results of other tuners, newest first, those that were replaced, too."""
    return service.list_records(session, query.filters(), query.limit, query.before)


@router.get("/lookup", responses=BAD_REQUEST | NOT_FOUND, dependencies=[READ])
def look_up_record(context: ContextDep, query: Annotated[LookupQuery, Query()]) -> RecordLookupOut:
    """Look up the result of a tuner for a problem of a kernel on a device, with what has changed since.

    A driver or version is compared only if the record and the caller both state it. A 404 means that nothing is stored.
    """
    return find(context, query)


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
        service.delete(session, record_id, by)
    return Response(status_code=204)
