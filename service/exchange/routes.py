"""/v1/imports and /v1/exports: results as JSON lines, as `xetune import` and `xetune export` read and write them."""

import socket
from collections.abc import Iterator
from dataclasses import asdict
from io import BytesIO
from itertools import chain
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse

from service.artifacts import StorageError
from service.deps import Context, ContextDep
from service.errors import BadRequest, Unavailable
from service.exchange import exporting
from service.exchange.exporting import Selection
from service.exchange.importing import take_in
from service.exchange.schemas import ImportOut
from service.keys.guard import READ, TUNE, CallerDep, GuardedRoute
from service.responses import BAD_REQUEST, CONFLICT, NOT_FOUND, TOO_LARGE, Responses
from tuner.errors import TunerError
from tuner.exchange.jsonl import read_lines, write_lines

router = APIRouter(prefix="/v1", tags=["exchange"], route_class=GuardedRoute)

_LINES = "application/x-ndjson"
_TEXT: dict[str, object] = {"schema": {"type": "string"}, "example": '{"record": "header", ...}\n'}
_BODY: dict[str, object] = {
    "requestBody": {"required": True, "content": {_LINES: _TEXT}, "description": "What an export wrote"}
}
_EXPORT: Responses = {200: {"description": "One record in a line", "content": {_LINES: _TEXT}}}


async def _body(request: Request) -> bytes:
    return await request.body()


@router.post("/imports", openapi_extra=_BODY, responses=BAD_REQUEST | CONFLICT | TOO_LARGE, dependencies=[TUNE])
def import_results(body: Annotated[bytes, Depends(_body)], context: ContextDep, by: CallerDep) -> ImportOut:
    """Take in results of another database, as JSON lines: all of them or, where a line cannot be, nothing.

    The setting of the largest body limits their length.
    """
    try:
        exchange = read_lines(BytesIO(body))
        done = take_in(
            exchange,
            context.database,
            context.artifacts,
            lambda name: context.devices.resolve(name, None).spec,
            by=by,
        )
    except TunerError as error:
        raise BadRequest(str(error), rule="import") from error
    except StorageError as error:
        raise Unavailable(str(error), rule="artifact-files") from error
    return ImportOut.model_validate(asdict(done))


@router.get(
    "/exports",
    response_class=StreamingResponse,
    responses=_EXPORT | BAD_REQUEST | NOT_FOUND | CONFLICT,
    dependencies=[READ],
)
def export_results(
    context: ContextDep,
    job: Annotated[UUID | None, Query(description="Only this job, which is over")] = None,
    device: Annotated[
        str | None, Query(min_length=1, max_length=200, description="Only results for this device", examples=["b580"])
    ] = None,
) -> StreamingResponse:
    """Jobs that are over, their trials and kernels, as JSON lines that another database imports."""
    lines = _lines(context, Selection(None, device, job))
    first = next(lines)  # what is refused is refused before the answer begins
    return StreamingResponse(
        chain([first], lines),
        media_type=_LINES,
        headers={"Content-Disposition": 'attachment; filename="results.jsonl"'},
    )


def _lines(context: Context, selection: Selection) -> Iterator[str]:
    with context.database.read() as session:
        try:
            records = exporting.results(session, context.artifacts, selection)
            first = next(records, None)
            found = () if first is None else (first,)
            yield from write_lines(chain([exporting.header(socket.gethostname())], found, records))
        except StorageError as error:
            raise Unavailable(str(error), rule="artifact-files") from error
