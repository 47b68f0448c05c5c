"""The file of an export: JSON lines as they are read, or one document of another format."""

import json
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from db.errors import DatabaseError
from db.queries import records as tuner_records
from service.api.exchange import exporting
from service.api.exchange.exporting import Selection
from service.api.exchange.schemas import ExportQuery
from service.artifacts import StorageError
from service.errors import BadRequest, Conflict, FieldError, NotFound, ServiceError, Unavailable
from service.http.context import Context
from tuner.errors import InvalidFile
from tuner.exchange.file_format import Format
from tuner.exchange.jsonl import broken_line, write_lines
from tuner.exchange.records import Record

if TYPE_CHECKING:
    from service.api.exchange.foreign import Written

JSON_LINES, JSON = Format.JSONL.media_type, Format.T4.media_type
LEFT_OUT, CONFIGURATIONS = "Left-Out", "Configurations"


@dataclass(frozen=True, slots=True)
class Exported:
    """The parts of an exported file, its media type and the headers of its response."""

    parts: Iterable[str]
    media_type: str
    headers: Mapping[str, str]


def exported(query: ExportQuery, context: Context) -> Exported:
    """Return the exported file; these errors are raised before its first part is read.

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
    return Exported(chain([next(lines)], lines), JSON_LINES, _named("results.jsonl"))


def _lines(context: Context, selection: Selection, runners_up: int | None, origin: str) -> Iterator[str]:
    """Yield the lines; an error after the first becomes the last line, as the answer has begun."""
    has_begun = False
    try:
        with context.database.read() as session:
            if runners_up is None:
                records = exporting.results(session, context.artifacts, selection)
                if selection.problem_key is None and selection.job_id is None:
                    records = chain(records, _tuner_records(session, selection.device))
            else:
                records = exporting.runners_up(session, selection, runners_up)
            first = next(records, None)
            found = () if first is None else (first,)
            for line in write_lines(chain([exporting.header(origin)], found, records)):
                has_begun = True
                yield line
    except (StorageError, ServiceError, DatabaseError) as error:
        if has_begun:
            yield broken_line(str(error))
        elif isinstance(error, StorageError):
            raise Unavailable(str(error), rule="artifact-files") from error
        else:
            raise


def check_files(query: ExportQuery, context: Context) -> None:
    """Check that the files which an export as JSON lines reads are there: later it has begun to answer.

    Raises:
        Conflict: rule `artifact-files`: one is missing or damaged.
    """
    if query.runners_up:
        return
    problem = query.problem()
    selection = Selection(None if problem is None else problem.key, query.device, query.job)
    with context.database.read() as session:
        hashes = exporting.file_hashes(session, selection)
    try:
        for sha256 in hashes:
            context.artifacts.get(sha256)
    except StorageError as error:
        raise Conflict(str(error), rule="artifact-files") from error


def _tuner_records(session: Session, device: str | None) -> Iterator[Record]:
    for row in tuner_records.each(session, device):
        # Imported here: most databases have no results of other tuners.
        from service.api.exchange.tuner_records import tuner_record

        yield tuner_record(row)


def _document(query: ExportQuery, context: Context) -> Exported:
    # Imported here: it brings numpy, which JSON lines do without.
    from tuner.exchange.formats import FORMATS

    written, write = _read(query, context), FORMATS[query.format].write
    assert write is not None  # all but JSON lines have a writer
    try:
        document = write(written.results, written.launch)
    except InvalidFile as error:
        raise Conflict(str(error), rule="no-launch") from error
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    counts = {CONFIGURATIONS: str(len(written.results.tried)), LEFT_OUT: str(written.left_out)}
    return Exported([text], query.format.media_type, _named(f"{query.format.value}.json") | counts)


def _read(query: ExportQuery, context: Context) -> "Written":
    from db.queries import recordings
    from service.api.exchange import foreign

    if (query.job is None) == (query.recording is None):
        raise _refused("job", f"expected one of job and recording with format {query.format.value}")
    with context.database.read() as session:
        if query.job is not None:
            return foreign.of_job(session, query.job, _origin(query))
        assert query.recording is not None  # one of both
        found = recordings.get(session, query.recording)
        if found is None:
            raise NotFound(f"recording {query.recording} does not exist; `xetune recordings` lists those that do")
        return foreign.of_recording(found)


def _origin(query: ExportQuery) -> str:
    return query.origin or socket.gethostname()


def _refused(field: str, message: str) -> BadRequest:
    return BadRequest(message, rule="export", errors=[FieldError(field=field, message=message)])


def _named(file: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{file}"'}
