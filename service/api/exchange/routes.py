"""/v1/imports and /v1/exports: results in the formats that `xetune import` and `xetune export` read and write."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Response

from service.api.exchange import (
    export_stream,
    import_upload,
)
from service.api.exchange.import_upload import ImportOptions
from service.api.exchange.schemas import (
    ExportQuery,
    ImportOut,
    ImportQuery,
)
from service.api.exchange.uploads import UploadDep
from service.api.keys.guard import (
    READ,
    TUNE,
    CallerDep,
    GuardedRoute,
)
from service.http.deps import ContextDep
from service.http.responses import (
    BAD_REQUEST,
    CONFLICT,
    NOT_FOUND,
    TOO_LARGE,
    TOO_MANY,
    Responses,
)
from tuner.errors import TunerError

router = APIRouter(prefix="/v1", tags=["exchange"], route_class=GuardedRoute)

_LINES: dict[str, object] = {"schema": {"type": "string"}, "example": '{"record": "header", ...}\n'}
_CACHE: dict[str, object] = {"schema": {"type": "object"}, "example": {"schema_version": "1.1.0", "cache": {}}}
_FILE: dict[str, object] = {
    "schema": {"type": "string", "format": "binary"},
    "example": "the bytes of the file, packed or not",
}
_BODY: dict[str, object] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": _FILE, export_stream.JSON: _CACHE},
        "description": "The bytes of a file: JSON lines that an export wrote, a cache of Kernel Tuner, a T4 or a T1 "
        "file; the last three may be packed by gzip, bzip2 or xz. What it holds tells which it is, whatever type is "
        "stated",
    }
}
_COUNTS = {
    export_stream.CONFIGURATIONS: {
        "description": "Configurations that another format holds",
        "schema": {"type": "integer"},
    },
    export_stream.LEFT_OUT: {
        "description": "Predicted trials that the format cannot hold",
        "schema": {"type": "integer"},
    },
}
_EXPORT: Responses = {
    200: {
        "description": "One record in a line; of other formats one object",
        "content": {export_stream.JSON_LINES: _LINES, export_stream.JSON: _CACHE},
        "headers": _COUNTS,
    }
}
_QUEUED: Responses = {202: {"model": ImportOut, "description": "Nothing was measured yet: jobs were queued"}}


@router.post(
    "/imports",
    openapi_extra=_BODY,
    responses=_QUEUED | BAD_REQUEST | CONFLICT | TOO_LARGE | TOO_MANY,
    dependencies=[TUNE],
)
def import_results(
    upload: UploadDep,
    query: Annotated[ImportQuery, Query()],
    context: ContextDep,
    by: CallerDep,
    response: Response,
) -> ImportOut:
    """Import a file: results of another database, or of other autotuners as a recording; whole or not at all.

    JSON lines of results bring kernels and times that lookups serve from then on, so a key needs the scope `admin` for
    them. A T1 file, and JSON lines of runners-up, hold no results: jobs are queued that measure what they list, on a
    device that is here.
    """
    options = ImportOptions(query.format, query.problem(), query.device, query.origin, query.seconds)
    with context.imports.one():
        read = import_upload.read_file(upload.path, options, context, by)
        with upload.once.write() as session:
            try:
                done = import_upload.take_in(session, read, by, context.settings)
            except TunerError as error:
                raise import_upload.refused(error, upload.path) from error
            status = HTTPStatus.ACCEPTED if done.queued else HTTPStatus.OK
            return upload.once.answer(session, response, done, status)


@router.get(
    "/exports",
    response_class=Response,
    responses=_EXPORT | BAD_REQUEST | NOT_FOUND | CONFLICT,
    dependencies=[READ],
)
def export_results(context: ContextDep, query: Annotated[ExportQuery, Query()]) -> Response:
    """Jobs that are over, their trials and kernels, as JSON lines that another database imports; or other formats.

    All, or those of a problem (m, n, k and its types), a device or a job; of a job or a recording also as a cache of
    Kernel Tuner, a T4 or a T1 file.
    """
    return export_stream.answer(query, context)
