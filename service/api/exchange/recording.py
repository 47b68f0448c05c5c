"""Import of a Kernel Tuner cache or a T4 file as a recording."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from codegen import GemmProblem, InvalidConfig, KernelConfig
from codegen.backend import backend_for, backend_of
from codegen.serialization import content_hash
from db.queries import problems
from db.session import Database
from hal import DeviceKind, DeviceSpec
from service.api.audit.log import record
from service.api.devices.elsewhere import store_missing_device
from service.api.exchange.portions import portions
from service.api.exchange.schemas import ImportOut
from service.api.keys.caller import Caller
from service.errors import BadRequest
from service.gemm_json import config_to_json, problem_to_json
from tuner.errors import InvalidFile
from tuner.exchange.file_format import Format
from tuner.exchange.parameters import config_of
from tuner.exchange.records import label_of
from tuner.exchange.results import Results, Times, Tried
from tuner.session.bounds import LEAST_US, LONGEST_US, MOST, check_name

_SHOWN = 5
_PORTION = 500  # trials of one transaction: SQLite writes them in some 30 ms
_TIMES = tuple(field.name for field in fields(Times))


@dataclass(frozen=True, slots=True)
class Recorded:
    """Checked results of a Kernel Tuner cache or T4 file, to be stored as a recording.

    `digest` identifies the recording, `columns` are the other values of its row, and `rows` those of its trials.
    """

    format: Format
    problem: GemmProblem
    device: DeviceSpec
    driver: str
    digest: str
    columns: Mapping[str, object]
    rows: Sequence[Mapping[str, object]]
    notes: tuple[str, ...]


def check(results: Results, format: Format, problem: GemmProblem, spec: DeviceSpec, origin: str) -> Recorded:
    """Check the results of a file.

    Raises:
        InvalidFile: the parameters are not those of this program's configurations, or one occurs twice.
        BadRequest: it is a CPU, and the file is of another one.
    """
    configs = _configs(results)
    if len(set(configs)) != len(configs):
        raise InvalidFile("expected each configuration once, got one twice; keep one of its results")
    _check_device(configs[0], results, spec)
    rows = [_row(number, config, results.tried[number]) for number, config in enumerate(configs)]
    if all(row["time_us"] is None for row in rows):
        raise InvalidFile(f"none of {len(configs)} configurations has a time; nothing to import")
    source = results.source
    driver = (source.driver if source is not None else spec.driver) or ""
    columns = {
        "format": format.value,
        "origin": origin,
        "named": results.device or spec.name,
        "label": label_of(spec) if source is None else source.label,
    }
    digest = content_hash([problem.key, spec.id, driver, [_told(row) for row in rows]])
    return Recorded(format, problem, spec, driver, digest, columns, rows, tuple(results.notes))


def write(database: Database, read: Recorded) -> None:
    """Write a recording in portions, so that other writers do not wait; no reader sees it before `add`."""
    # Imported here, and in `add`: files of own results are read without it.
    from db.queries import recordings

    with database.write() as session:
        recording_id, is_complete = recordings.begin(
            session,
            {
                "problem_id": problems.upsert(
                    session, key=read.problem.key, definition=problem_to_json(read.problem)
                ).id,
                "device_id": store_missing_device(session, read.device, read.driver).id,
                "digest": read.digest,
                **read.columns,
            },
        )
    if is_complete:
        return
    for number, portion in enumerate(portions(read.rows, _PORTION)):
        with database.write() as session:
            recordings.add_tried(session, recording_id, number * _PORTION, portion)


def add(session: Session, read: Recorded, by: Caller) -> ImportOut:
    """Show a recording that was written, with its event in the audit log unless an identical one was stored."""
    from db.queries import recordings

    is_new = recordings.complete(session, read.digest)
    found = recordings.by_digest(session, read.digest)
    assert found is not None  # written before
    if is_new:
        record(session, by, "import", found.id)
    return ImportOut(
        format=read.format,
        origin=found.origin,
        known=0 if is_new else len(read.rows),
        recording=found.id,
        configurations=len(read.rows),
        timed=sum(row["time_us"] is not None for row in read.rows),
        notes=list(read.notes),
    )


def _configs(results: Results) -> list[KernelConfig]:
    """Return the configurations of a file.

    Raises:
        InvalidFile: some are not valid here; the message has the first ones with their reasons.
    """
    found: list[KernelConfig] = []
    faults: list[str] = []
    for number, tried in enumerate(results.tried):
        try:
            found.append(config_of(dict(zip(results.parameters, tried.values, strict=True))))
        except (ValueError, InvalidConfig) as error:
            faults.append(f"configuration {number}: {error}")
            if len(faults) == _SHOWN:
                break
    if faults:
        raise InvalidFile(
            f"{len(faults)}{' or more' * (len(faults) == _SHOWN)} of {len(results.tried)} configurations are not of "
            f"this program: {'; '.join(faults)}; "
            "`xetune replay` searches recorded results of any kernel, without importing them"
        )
    return found


def _row(number: int, config: KernelConfig, tried: Tried) -> dict[str, object]:
    """Return the columns of a configuration.

    Raises:
        InvalidFile: a number that a database cannot hold, or an empty reason.
    """
    times = tried.times
    if times is not None and not LEAST_US <= times.time_us < LONGEST_US:
        raise InvalidFile(
            f"configuration {number}: expected a time of {LEAST_US} to {LONGEST_US} us, got {times.time_us} us"
        )
    if times is not None and times.samples is not None and not 1 <= times.samples <= MOST:
        raise InvalidFile(f"configuration {number}: expected 1 to {MOST} samples, got {times.samples}")
    if tried.reason == "":
        raise InvalidFile(f"configuration {number}: expected a reason why it has no time, got an empty text")
    wall_s = {name: getattr(tried, name) for name in ("compile_s", "verify_s", "measure_s")}
    return {
        "config": config_to_json(config),
        "config_hash": config.key,
        "status": tried.status.value,
        "reason": tried.reason,
        **(dict.fromkeys(_TIMES) if times is None else asdict(_ordered(times))),
        **{name: s if s is not None and 0 <= s < math.inf else None for name, s in wall_s.items()},
        "tried_at": _read_moment(tried.at),
    }


def _check_device(config: KernelConfig, results: Results, spec: DeviceSpec) -> None:
    """Check the device of the first configuration; all have the same parameters, so it stands for all."""
    if (backend := backend_of(config)) is not backend_for(spec):
        raise InvalidFile(f"expected configurations for {spec.id}, got {backend.device}'s: name their device")
    label = label_of(spec)
    if results.source is not None and results.source.label != label:
        raise InvalidFile(f"label: expected {label!r}, which times of {spec.id} are, got {results.source.label!r}")
    if spec.kind is DeviceKind.CPU and results.device not in ("", spec.name):
        raise BadRequest(
            f"expected results of {spec.id}, the {spec.name} of this machine, got those of {results.device}: times of "
            "one are not those of the other"
        )
    try:
        check_name(results.device or spec.name)
    except ValueError as error:
        raise InvalidFile(f"device: {error}") from error


def _ordered(times: Times) -> Times:
    """Drop contradictory statistics of a time; the time itself is kept."""
    least, p10, p90 = times.min_us, times.p10_us, times.p90_us
    if least is None or p10 is None or p90 is None or not 0 < least <= p10 <= p90 < LONGEST_US:
        return replace(times, min_us=None, p10_us=None, p90_us=None)
    return times


def _told(columns: Mapping[str, object]) -> list[object]:
    """Return the fields that identify a row, whichever format it came in."""
    time_us = columns.get("time_us")
    # Files have times in other units, so the last digits differ after conversion.
    return [columns["config_hash"], columns["status"], None if time_us is None else f"{time_us:.12g}"]


def _read_moment(text: str | None) -> datetime | None:
    """Parse a moment to UTC; None if it is missing or has no time zone."""
    try:
        at = None if text is None else datetime.fromisoformat(text)
        return at.astimezone(UTC) if at is not None and at.tzinfo is not None else None
    except (ValueError, OverflowError):  # the latter of one that is before the year 1 in UTC
        return None
