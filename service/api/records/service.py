"""Records: storing and lookup."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy.orm import Session

from db.queries import records
from db.schema.record import Record
from db.values import JsonObject, new_id, utc_now
from service.api.audit.log import record
from service.api.audit.schemas import Outcome
from service.api.kernels.lookup.version_changes import driver_change, version_changes
from service.api.keys.caller import Caller
from service.api.records.devices import (
    Place,
    device_of,
    full_pci_id,
)
from service.api.records.schemas import (
    RecordBody,
    RecordDevice,
    RecordLookupOut,
    RecordOut,
    RecordPage,
    RecordsBody,
    StoredRecord,
    StoredRecords,
    canonical,
)
from service.errors import Conflict, NotFound
from service.settings import Settings

_HISTORY = 20
_TIMES = ("time_us", "min_us", "p10_us", "p90_us", "samples")
_COPIED = ("id", "tuner", "kernel", "problem", "device", "pci_id", "config", "document", "origin", "created_at")


@dataclass(frozen=True, slots=True)
class Question:
    """A lookup: a problem of a kernel, with the versions of the programs that ask."""

    tuner: str
    kernel: str
    problem: JsonObject
    versions: Mapping[str, str]


def store(session: Session, body: RecordsBody, settings: Settings, by: Caller) -> StoredRecords:
    """Store the results of a request, with their events in the audit log; raises as `add_all`."""
    stored = add_all(session, body.records, settings)
    for record_id, is_new in stored:
        record(session, by, "record.create", record_id, Outcome.DONE if is_new else Outcome.UNCHANGED)
    return StoredRecords(records=[StoredRecord(id=record_id, new=is_new) for record_id, is_new in stored])


def add_all(session: Session, bodies: Iterable[RecordBody], settings: Settings) -> list[tuple[UUID, bool]]:
    """Store the results that are not in force already; return the id of each and whether it is new.

    Raises:
        Conflict: rule `records` or `records-of-problem`: there would be more than the settings allow.
    """
    total = records.count(session)
    added: list[tuple[UUID, bool]] = []
    for body in bodies:
        row = row_of(body, new_id(), utc_now())
        in_force = records.latest_like(session, row)
        if in_force is not None and in_force.content_hash == row.content_hash:
            added.append((in_force.id, False))
            continue
        total += 1
        check_room(settings, total=total)
        check_room(settings, of_problem=records.count_of(session, row.problem_hash, row.device) + 1, row=row)
        session.add(row)
        session.flush()
        added.append((row.id, True))
    return added


def check_room(settings: Settings, *, total: int = 0, of_problem: int = 0, row: Record | None = None) -> None:
    """Check a number of all records, or of those of the problem and device of `row`.

    Raises:
        Conflict: rule `records` or `records-of-problem`: it is more than the settings allow.
    """
    where = "" if row is None else f" of a problem of {row.kernel!r} by {row.tuner!r} on {row.device!r}"
    most, rule = settings.max_records, "records"
    if row is not None:
        most, rule = settings.max_records_of_problem, "records-of-problem"
    if max(total, of_problem) > most:
        message = f"expected at most {most} records{where}, got more: delete some, such as those that were replaced"
        raise Conflict(message, rule=rule)


def stated(row: Record) -> RecordBody:
    """Return what the sender of a record stated."""
    device = RecordDevice(pci_id=row.pci_id, name=row.named, driver=row.driver or None)
    values = {name: getattr(row, name) for name in ("tuner", "kernel", "problem", "config", "document", "origin")}
    times = {name: getattr(row, name) for name in _TIMES}
    return RecordBody.model_validate({"device": device, "versions": row.versions} | values | times)


def look_up(session: Session, question: Question, place: Place) -> RecordLookupOut:
    """Return the record for a problem on a device: of this driver and these versions, else the nearest stale one.

    Raises:
        NotFound: rule `no-record`.
    """
    problem_hash = _problem_hash(question.tuner, question.kernel, question.problem)
    groups: dict[str, list[Record]] = defaultdict(list)
    for row in _in_force(records.newest(session, problem_hash, place.device)):
        groups[_environment(row)].append(row)
    if not groups:
        raise NotFound(
            f"no record of {question.kernel!r} by {question.tuner!r} for this problem on {place.device!r}; "
            "`xetune records` lists what is stored",
            rule="no-record",
        )
    changes = {key: _changes(rows[0], question, place) for key, rows in groups.items()}
    nearest = min(groups, key=lambda key: (len(changes[key]), -_newest(groups[key])))
    rows = sorted(groups[nearest], key=_by_time)
    return RecordLookupOut(
        source="stale" if changes[nearest] else "exact",
        stale=changes[nearest],
        record=to_out(rows[0]),
        others=sum(map(len, groups.values())) - 1,
    )


def read(session: Session, record_id: UUID) -> RecordOut:
    """Return a record.

    Raises:
        NotFound: there is none.
    """
    return to_out(_found(session, record_id))


def history(session: Session, record_id: UUID) -> list[RecordOut]:
    """Return the newest records of the problem and device of a record, with any driver.

    Raises:
        NotFound: there is none.
    """
    row = _found(session, record_id)
    return [to_out(each) for each in records.newest(session, row.problem_hash, row.device, _HISTORY)]


def delete(session: Session, record_id: UUID, by: Caller) -> None:
    """Delete a record, with its event in the audit log.

    Raises:
        NotFound: there is none.
    """
    session.delete(_found(session, record_id))
    record(session, by, "record.delete", record_id)


def list_records(
    session: Session, filters: Mapping[str, str | None], limit: int, before: UUID | None = None
) -> RecordPage:
    """Return the newest records older than `before`, whose columns have the values of `filters`."""
    rows = records.list_page(session, filters, limit=limit + 1, before=before)
    page = [to_out(row) for row in rows[:limit]]
    return RecordPage(records=page, next_before=page[-1].id if len(rows) > limit else None)


def to_out(row: Record) -> RecordOut:
    """Convert a row to its response model."""
    values = {name: getattr(row, name) for name in (*_COPIED, *_TIMES)}
    named = {"device_name": row.named, "driver": row.driver or None, "versions": row.versions}
    return RecordOut.model_validate(values | named)


def _found(session: Session, record_id: UUID) -> Record:
    if (row := records.find(session, record_id)) is None:
        raise NotFound(f"record {record_id} does not exist; `xetune records` lists those that do")
    return row


def row_of(body: RecordBody, id: UUID, created_at: datetime) -> Record:
    """Return the row of a result that arrived then."""
    pci_id = None if body.device.pci_id is None else full_pci_id(body.device.pci_id)
    body = body.model_copy(update={"device": body.device.model_copy(update={"pci_id": pci_id})})
    return Record(
        id=id,
        created_at=created_at,
        tuner=body.tuner,
        kernel=body.kernel,
        problem=body.problem,
        problem_hash=_problem_hash(body.tuner, body.kernel, body.problem),
        device=device_of(pci_id, body.device.name),
        pci_id=pci_id,
        named=body.device.name,
        driver=body.device.driver or "",
        versions=dict(body.versions),
        config=body.config,
        config_hash=_hash(body.config),
        document=body.document,
        origin=body.origin,
        content_hash=_hash(body.model_dump(mode="json")),
        **{name: getattr(body, name) for name in _TIMES},
    )


def _in_force(newest_first: Iterable[Record]) -> list[Record]:
    """Return the rows that no later one replaces: of the same configuration, or, without a time, of any."""
    seen: set[tuple[str, str | None]] = set()
    found: list[Record] = []
    for row in newest_first:
        key = _environment(row), None if row.time_us is None else row.config_hash
        if key not in seen:
            seen.add(key)
            found.append(row)
    return found


def _environment(row: Record) -> str:
    return canonical([row.driver, row.versions])


def _newest(rows: Sequence[Record]) -> int:
    return max(row.id.int for row in rows)


def _by_time(row: Record) -> tuple[bool, float, int]:
    return row.time_us is None, row.time_us or 0.0, -row.id.int


def _changes(row: Record, question: Question, place: Place) -> list[str]:
    then = {name: str(version) for name, version in row.versions.items()}
    return [*driver_change(row.driver or None, place.driver), *version_changes(then, question.versions)]


def _problem_hash(tuner: str, kernel: str, problem: JsonObject) -> str:
    return _hash([tuner, kernel, problem])


def _hash(value: object) -> str:
    return hashlib.sha256(canonical(value).encode()).hexdigest()
