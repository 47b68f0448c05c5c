"""Import of a Kernel Tuner cache or a T4 file as a recording."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from codegen import GemmProblem, InvalidConfig, KernelConfig
from codegen.backend import backend_for, backend_of
from codegen.serialization import content_hash
from db.queries import (
    problems,
    recordings,
)
from hal import DeviceKind, DeviceSpec
from service.api.audit.log import record
from service.api.devices.elsewhere import store_missing_device
from service.api.exchange.schemas import ImportOut
from service.api.keys.caller import Caller
from service.errors import BadRequest
from service.row_mapping import (
    config_to_json,
    problem_to_json,
)
from tuner.errors import InvalidFile
from tuner.exchange.formats import Format
from tuner.exchange.parameters import config_of
from tuner.exchange.records import label_of
from tuner.exchange.results import Results, Times, Tried
from tuner.session.bounds import LEAST_US, LONGEST_US, MOST, check_name

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Recorded:
    """Checked results of a Kernel Tuner cache or T4 file, to be stored as a recording."""

    results: Results
    format: Format
    problem: GemmProblem
    device: DeviceSpec
    origin: str


def add(session: Session, read: Recorded, by: Caller) -> ImportOut:
    """Store a recording with its event in the audit log, unless an identical one is stored.

    Raises:
        InvalidFile: the parameters are not those of this program's configurations, or one occurs twice.
        BadRequest: it is a CPU, and the file is of another one.
    """
    results, problem, spec = read.results, read.problem, read.device
    configs = _configs(results)
    if len(set(configs)) != len(configs):
        raise InvalidFile("expected each configuration once, got one twice; keep one of its results")
    _check_device(configs[0], results, spec)
    rows = [_row(number, config, results.tried[number]) for number, config in enumerate(configs)]
    timed = sum(tried.times is not None for tried in results.tried)
    if not timed:
        raise InvalidFile(f"none of {len(configs)} configurations has a time; nothing to import")
    source = results.source
    driver = (source.driver if source is not None else spec.driver) or ""
    digest = content_hash([problem.key, spec.id, driver, [_told(row) for row in rows]])
    values: dict[str, object] = {
        "problem_id": problems.upsert(session, key=problem.key, definition=problem_to_json(problem)).id,
        "device_id": store_missing_device(session, spec, driver).id,
        "format": read.format.value,
        "digest": digest,
        "origin": read.origin,
        "named": results.device or spec.name,
        "label": label_of(spec) if source is None else source.label,
    }
    made = recordings.add(session, values, rows)
    found = made or recordings.by_digest(session, digest)
    assert found is not None  # it kept the new one out
    if made is not None:
        record(session, by, "import", found.id)
    return ImportOut(
        format=read.format,
        origin=found.origin,
        known=0 if made is not None else len(configs),
        recording=found.id,
        configurations=len(configs),
        timed=timed,
        notes=list(results.notes),
    )


def _configs(results: Results) -> list[KernelConfig]:
    """Return the configurations of a file.

    Raises:
        InvalidFile: some are not valid here; the message has their number and the first reasons.
    """
    found: list[KernelConfig] = []
    faults: list[str] = []
    for number, tried in enumerate(results.tried):
        try:
            found.append(config_of(dict(zip(results.parameters, tried.values, strict=True))))
        except (ValueError, InvalidConfig) as error:
            faults.append(f"configuration {number}: {error}")
    if faults:
        raise InvalidFile(
            f"{len(faults)} of {len(results.tried)} configurations are not of this program: "
            f"{'; '.join(faults[:_SHOWN])}; `xetune replay` searches recorded results of any kernel, without importing "
            "them"
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
        **({} if times is None else asdict(_ordered(times))),
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
