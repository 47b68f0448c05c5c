"""Records of other tuners in an exchange file: they keep their ids, and so their order of arrival."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy.orm import Session

from db.queries import records
from db.schema.record import Record
from db.values import utc_now
from service.api.records.schemas import RecordBody
from service.api.records.service import check_room, row_of, stated
from service.http.validation_errors import message_of
from service.settings import Settings
from tuner.errors import InvalidLine
from tuner.exchange.jsonl import Line
from tuner.exchange.records import TunerRecord

_AT_ONCE = 500  # ids of one query
_CLOCKS_DIFFER = timedelta(days=1)
_MILLISECONDS_AT = 80  # bits of a UUID of version 7 after its time


def tuner_record(row: Record) -> TunerRecord:
    """Return a stored record as a line."""
    result = {name: value for name, value in stated(row).model_dump(mode="json").items() if value is not None}
    return TunerRecord(str(row.id), row.created_at.isoformat(), result)


def check(session: Session, lines: Sequence[Line[TunerRecord]], settings: Settings) -> list[Record]:
    """Return the rows of a file that are not stored.

    Raises:
        InvalidLine: a line is no record, is younger than now, or another record has its id.
        Conflict: there would be more records than the settings allow.
    """
    new: list[Record] = []
    for first in range(0, len(lines), _AT_ONCE):
        rows = [(line.number, _row(line)) for line in lines[first : first + _AT_ONCE]]
        known = records.stored(session, [row.id for _, row in rows])
        for number, row in rows:
            if row.id not in known:
                new.append(row)
            elif stated(known[row.id]) != stated(row):
                raise InvalidLine(number, f"tuner_record: expected what record {row.id} is here, got another result")
    of_problem: Counter[tuple[str, str]] = Counter()
    if new:
        check_room(settings, total=records.count(session) + len(new))
    for row in new:
        of_problem[row.problem_hash, row.device] += 1
    for row in new:
        number = of_problem.pop((row.problem_hash, row.device), 0)
        if number:
            number += records.count_of(session, row.problem_hash, row.device)
            check_room(settings, of_problem=number, row=row)
    return new


def add(session: Session, rows: Sequence[Record]) -> int:
    """Add rows, but those that another import has added since the check; return their number."""
    known = records.stored(session, [row.id for row in rows])
    new = [row for row in rows if row.id not in known]
    session.add_all(new)
    session.flush()
    return len(new)


def _row(line: Line[TunerRecord]) -> Record:
    record = line.record
    try:
        body = RecordBody.model_validate(record.result)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"])
        message = f"tuner_record: result{place and f'.{place}'}: {message_of(error.errors()[0])}"
        raise InvalidLine(line.number, f"{message}; expected what `GET /v1/records/schema` describes") from error
    id = UUID(record.id)
    latest = (utc_now() + _CLOCKS_DIFFER).timestamp() * 1000
    if id.version != 7 or id.int >> _MILLISECONDS_AT > latest:
        raise InvalidLine(line.number, f"tuner_record: id: expected a UUID of version 7 and of a time before now: {id}")
    return row_of(body, id, datetime.fromisoformat(record.created_at))
