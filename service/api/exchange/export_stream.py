"""The response of an export: JSON lines as they are read, or one document of another format."""

import json
import socket
from collections.abc import Iterator
from itertools import chain

from fastapi.responses import Response, StreamingResponse

from db.queries import recordings
from db.queries import records as tuner_records
from service.api.exchange import (
    exporting,
    foreign,
)
from service.api.exchange.exporting import Selection
from service.api.exchange.foreign import Written
from service.api.exchange.schemas import ExportQuery
from service.api.exchange.tuner_records import tuner_record
from service.artifacts import StorageError
from service.errors import BadRequest, Conflict, FieldError, NotFound, Unavailable
from service.http.context import Context
from tuner.errors import InvalidFile
from tuner.exchange.file_format import Format
from tuner.exchange.formats import FORMATS
from tuner.exchange.jsonl import write_lines

JSON_LINES, JSON = FORMATS[Format.JSONL].media_type, FORMATS[Format.T4].media_type
LEFT_OUT, CONFIGURATIONS = "Left-Out", "Configurations"


def answer(query: ExportQuery, context: Context) -> Response:
    """Return the exported file; errors are raised before the response begins.

    Raises:
        BadRequest: rule `export`: an option that the format does not have.
        NotFound, Conflict: the job or recording does not exist, is not over, or cannot be written in the
        format.
    """
    problem = query.problem()
    if query.format is not Format.JSONL:
        if problem is not None or query.device is not None or query.runners_up:
            raise _refused("format", f"{query.format.value} takes job or recording, and no other choice of results")
        return _document(query, context)
    if query.recording is not None:
        raise _refused("recording", "a recording is written in another format than jsonl: kernel-tuner or t4")
    selection = Selection(None if problem is None else problem.key, query.device, query.job)
    lines = _lines(context, selection, query.limit if query.runners_up else None, _origin(query))
    return StreamingResponse(chain([next(lines)], lines), media_type=JSON_LINES, headers=_named("results.jsonl"))


def _lines(context: Context, selection: Selection, runners_up: int | None, origin: str) -> Iterator[str]:
    with context.database.read() as session:
        try:
            if runners_up is None:
                records = exporting.results(session, context.artifacts, selection)
                if selection.problem_key is None and selection.job_id is None:
                    records = chain(records, map(tuner_record, tuner_records.each(session, selection.device)))
            else:
                records = exporting.runners_up(session, selection, runners_up)
            first = next(records, None)
            found = () if first is None else (first,)
            yield from write_lines(chain([exporting.header(origin)], found, records))
        except StorageError as error:
            raise Unavailable(str(error), rule="artifact-files") from error


def _document(query: ExportQuery, context: Context) -> Response:
    written, row = _read(query, context), FORMATS[query.format]
    assert row.write is not None  # all but JSON lines have a writer
    try:
        document = row.write(written.results, written.launch)
    except InvalidFile as error:
        raise Conflict(str(error), rule="no-launch") from error
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    counts = {CONFIGURATIONS: str(len(written.results.tried)), LEFT_OUT: str(written.left_out)}
    headers = _named(f"{query.format.value}.json") | counts
    return Response(text, media_type=row.media_type, headers=headers)


def _read(query: ExportQuery, context: Context) -> Written:
    if (query.job is None) == (query.recording is None):
        raise _refused("job", f"expected one of job and recording with format {query.format.value}")
    with context.database.read() as session:
        if query.job is not None:
            return foreign.of_job(session, query.job, _origin(query))
        assert query.recording is not None  # one of both
        found = recordings.get(session, query.recording)
        if found is None:
            raise NotFound(f"recording {query.recording} does not exist; GET /v1/recordings lists those that do")
        return foreign.of_recording(found)


def _origin(query: ExportQuery) -> str:
    return query.origin or socket.gethostname()


def _refused(field: str, message: str) -> BadRequest:
    return BadRequest(message, rule="export", errors=[FieldError(field=field, message=message)])


def _named(file: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{file}"'}
