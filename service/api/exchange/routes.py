"""/v1/imports and /v1/exports: results in the formats that `xetune import` and `xetune export` read and write."""

from http import HTTPStatus
from typing import Annotated

from fastapi import Query, Response
from fastapi.responses import StreamingResponse

from service.api.exchange import (
    export_stream,
    import_upload,
)
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
    guarded_router,
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
from tuner.exchange.file_format import Format

router = guarded_router("/v1", "exchange")

_LINES: dict[str, object] = {"schema": {"type": "string"}, "example": '{"record": "header", ...}\n'}
_CACHE: dict[str, object] = {"schema": {"type": "object"}, "example": {"schema_version": "1.1.0", "cache": {}}}
_FILE: dict[str, object] = {
    "schema": {"type": "string", "format": "binary"},
    "example": "the bytes of the file, compressed or not",
}
_BODY: dict[str, object] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": _FILE, export_stream.JSON: _CACHE},
        "description": "Content of a file: JSON lines written by an export, a Kernel Tuner cache, a T4 or a T1 file; "
        "the last three may be compressed with gzip, bzip2 or xz. The format is detected from the content; the stated "
        "media type is ignored",
    }
}
_COUNTS = {
    export_stream.CONFIGURATIONS: {
        "description": "Number of configurations in a file of another format",
        "schema": {"type": "integer"},
    },
    export_stream.LEFT_OUT: {
        "description": "Number of predicted trials that the format cannot hold",
        "schema": {"type": "integer"},
    },
}
_EXPORT: Responses = {
    200: {
        "description": "One record per line; other formats: one object",
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
    """Import a file: results of another database, or of other autotuners as a recording; all or nothing.

    JSON lines of results contain kernels and times that lookups serve from then on, so they need a key with
    the scope `admin`. A T1 file, and JSON lines of runners-up, contain no results: they queue jobs that
    measure their configurations on a local device.
    """
    with context.imports.one():
        read = import_upload.receive(upload.path, query, context, by)
        with upload.once.write() as session:
            done = import_upload.take_in(session, read, by, context.settings)
            status = HTTPStatus.ACCEPTED if done.queued else HTTPStatus.OK
            return upload.once.answer(session, response, done, status)


@router.get(
    "/exports",
    response_class=Response,
    responses=_EXPORT | BAD_REQUEST | NOT_FOUND | CONFLICT,
    dependencies=[READ],
)
def export_results(context: ContextDep, query: Annotated[ExportQuery, Query()]) -> Response:
    """Export finished jobs with their trials and kernels as JSON lines that another database can import.

    Filter by problem (m, n, k and its types), device or job. A job or a recording can also be exported as a
    Kernel Tuner cache, a T4 or a T1 file.
    """
    file = export_stream.exported(query, context)
    if query.format is Format.JSONL:
        export_stream.check_files(query, context)
        return StreamingResponse(file.parts, media_type=file.media_type, headers=file.headers)
    return Response("".join(file.parts), media_type=file.media_type, headers=dict(file.headers))
