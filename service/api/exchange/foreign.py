"""Convert between stored rows and the results of Kernel Tuner and T4 files."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import cast
from uuid import UUID

from sqlalchemy.orm import Session

from codegen import GemmProblem, InvalidConfig, KernelConfig
from codegen.backend import backend_for, backend_of
from codegen.serialization import content_hash
from db import schema
from db.queries import (
    devices,
    jobs,
    problems,
    recordings,
    trials,
)
from db.schema.base import JsonObject
from hal import DeviceKind, DeviceSpec
from service.errors import BadRequest, Conflict, NotFound
from service.row_mapping import (
    config_from_json,
    config_to_json,
    problem_from_json,
    problem_to_json,
    spec_to_json,
)
from tuner.errors import InvalidFile
from tuner.exchange.formats import Format
from tuner.exchange.parameters import config_of, parameters_of
from tuner.exchange.records import LEAST_US, MOST, check_name, label_of
from tuner.exchange.results import Provenance, Results, Times, Tried
from tuner.exchange.t1 import Argument, Launch
from tuner.session.evidence import LONGEST_US
from tuner.session.trial import Status

_OVER = ("succeeded", "failed", "cancelled")
_KERNEL = "gemm"
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Written:
    """Results of a job, the launch of its best kernel if known, and the number of trials that the format
    cannot hold.
    """

    results: Results
    launch: Launch | None
    left_out: int


def of_job(session: Session, job_id: UUID, origin: str) -> Written:
    """Return the measured and failed trials of a job; predicted and reused ones are left out.

    Raises:
        NotFound, Conflict: no such job, it is not over, or it measured nothing.
    """
    job = jobs.get(session, job_id)
    if job is None:
        raise NotFound(f"job {job_id} does not exist; `xetune jobs` lists those that do")
    if job.status not in _OVER:
        raise Conflict(f"job {job_id} is {job.status}; export it when it is over")
    ended = [row for row in trials.list_page(session, job_id) if row.status != "pending"]
    # Reused times were measured at another time, which these formats cannot express.
    rows = [row for row in ended if row.status != "predicted" and row.reused is None]
    if not any(row.measurement is not None for row in rows):
        raise Conflict(
            f"job {job_id} measured nothing: this format holds measurements; --format jsonl keeps predictions as such"
        )
    label = next(row.measurement.label for row in rows if row.measurement is not None)
    place = origin if job.origin is None else job.origin
    source = _source(job.problem, job.device, job.device.name, label, place, str(job.id))
    configs = [config_from_json(row.config) for row in rows]
    results = _results(source, configs, [_tried(row) for row in rows])
    best = next((row for row in rows if row.id == job.best_trial_id), None)
    launch = None if best is None or best.kernel is None else _launch(best.kernel.manifest)
    return Written(results, launch, len(ended) - len(rows))


def of_recording(recording: schema.Recording) -> Written:
    """Return the results of a recording."""
    of = recording.problem, recording.device, recording.named
    source = _source(*of, recording.label, recording.origin, None)
    configs = [config_from_json(row.config) for row in recording.tried]
    return Written(_results(source, configs, [_recorded(row) for row in recording.tried]), None, 0)


def take_in(
    session: Session, results: Results, format: Format, problem: GemmProblem, spec: DeviceSpec, origin: str
) -> tuple[schema.Recording, bool]:
    """Store results of a problem on a device as a recording; return it, or the identical stored one, and
    whether it is new.

    Raises:
        InvalidFile: the parameters are not those of this program's configurations, or one occurs twice.
        BadRequest: it is a CPU, and the file is of another one.
    """
    configs = _configs(results)
    if len(set(configs)) != len(configs):
        raise InvalidFile("expected each configuration once, got one twice; keep one of its results")
    _check_numbers(results)
    _check_device(configs[0], results, spec)
    if spec.kind is DeviceKind.CPU and results.device not in ("", spec.name):
        raise BadRequest(
            f"expected results of {spec.id}, the {spec.name} of this machine, got those of {results.device}: times of "
            "one are not those of the other"
        )
    if not any(tried.times is not None for tried in results.tried):
        raise InvalidFile(f"none of {len(configs)} configurations has a time; nothing to import")
    source = results.source
    driver = (source.driver if source is not None else spec.driver) or ""
    device = devices.add_missing(
        session,
        slug=spec.id,
        driver=driver,
        name=spec.name,
        kind=spec.kind.value,
        emulates=spec.emulates,
        spec=spec_to_json(spec),
    )
    columns = [_columns(config, tried) for config, tried in zip(configs, results.tried, strict=True)]
    digest = content_hash([problem.key, spec.id, driver, [_told(row) for row in columns]])
    values: dict[str, object] = {
        "problem_id": problems.upsert(session, key=problem.key, definition=problem_to_json(problem)).id,
        "device_id": device.id,
        "format": format.value,
        "digest": digest,
        "origin": origin,
        "named": results.device or spec.name,
        "label": label_of(spec) if source is None else source.label,
    }
    made = recordings.add(session, values, columns)
    there = made or recordings.by_digest(session, digest)
    assert there is not None  # it kept the new one out
    return there, made is not None


def _source(
    problem: schema.Problem, device: schema.Device, name: str, label: str, origin: str, job: str | None
) -> Provenance:
    program = f"xetune {version('xetune')}"
    return Provenance(
        problem_from_json(problem.definition), device.slug, name, device.driver, label, origin, program, job
    )


def _results(source: Provenance, configs: list[KernelConfig], tried: list[Tried]) -> Results:
    parameters = [parameters_of(config) for config in configs]
    names = tuple(parameters[0])
    if any(tuple(each) != names for each in parameters):
        raise BadRequest("expected configurations of one kind of device, got some of a GPU and some of a CPU")
    valued = tuple(
        replace(of, values=tuple(each[name] for name in names)) for each, of in zip(parameters, tried, strict=True)
    )
    size = source.problem.m, source.problem.n, source.problem.k
    return Results(_KERNEL, source.device_name, size, names, valued, source)


def _tried(row: schema.Trial) -> Tried:
    m = row.measurement
    times = None if m is None else Times(m.median_us, m.min_us, m.p10_us, m.p90_us, m.samples)
    at = m.measured_at if m is not None else row.ended_at
    return Tried((), Status(row.status), times, row.reason, row.compile_s, row.verify_s, row.measure_s, _moment(at))


def _recorded(row: schema.RecordedTrial) -> Tried:
    times = None if row.time_us is None else Times(row.time_us, row.min_us, row.p10_us, row.p90_us, row.samples)
    wall = row.compile_s, row.verify_s, row.measure_s
    return Tried((), Status(row.status), times, row.reason, *wall, _moment(row.tried_at))


def _launch(manifest: JsonObject) -> Launch | None:
    """Return the first step of a launch on a GPU, from kernel.json."""
    steps = cast("list[Mapping[str, object]]", manifest.get("steps") or [])
    if not steps or not steps[0].get("local_size"):
        return None
    sizes = [tuple(cast("list[int]", steps[0][name])) for name in ("global_size", "local_size")]
    arguments = cast("list[Mapping[str, object]]", manifest.get("arguments") or [])
    return Launch(
        str(steps[0]["kernel"]),
        "kernel.spv",
        sizes[0],
        sizes[1],
        tuple(
            Argument(str(a["name"]), str(a.get("dtype")), str(a.get("role")), cast(int, a.get("bytes") or 0))
            for a in arguments
        ),
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


def _columns(config: KernelConfig, tried: Tried) -> dict[str, object]:
    times = tried.times
    spread = (None, None, None, None, None) if times is None else _ordered(times)
    names = ("time_us", "min_us", "p10_us", "p90_us", "samples")
    return {
        "config": config_to_json(config),
        "config_hash": config.key,
        "status": tried.status.value,
        "reason": tried.reason,
        **dict(zip(names, spread, strict=True)),
        "compile_s": _finite(tried.compile_s),
        "verify_s": _finite(tried.verify_s),
        "measure_s": _finite(tried.measure_s),
        "tried_at": _read_moment(tried.at),
    }


def _check_numbers(results: Results) -> None:
    """Check that a database can hold the numbers and names of a file.

    Raises:
        InvalidFile: names the first that it cannot hold.
    """
    if results.device:
        try:
            check_name("device", results.device)
        except ValueError as error:
            raise InvalidFile(str(error)) from error
    for number, tried in enumerate(results.tried):
        times = tried.times
        if times is not None and not LEAST_US <= times.time_us < LONGEST_US:
            raise InvalidFile(
                f"configuration {number}: expected a time of {LEAST_US} to {LONGEST_US} us, got {times.time_us} us"
            )
        if times is not None and times.samples is not None and not 1 <= times.samples <= MOST:
            raise InvalidFile(f"configuration {number}: expected 1 to {MOST} samples, got {times.samples}")
        if tried.reason == "":
            raise InvalidFile(f"configuration {number}: expected a reason why it has no time, got an empty text")


def _check_device(config: KernelConfig, results: Results, spec: DeviceSpec) -> None:
    """Check the device kind of the first configuration; all have the same parameters, so it stands for all."""
    if (backend := backend_of(config)) is not backend_for(spec):
        raise InvalidFile(f"expected configurations for {spec.id}, got {backend.device}'s: name their device")
    label = label_of(spec)
    if results.source is not None and results.source.label != label:
        raise InvalidFile(f"label: expected {label!r}, which times of {spec.id} are, got {results.source.label!r}")


def _ordered(times: Times) -> tuple[float | None, ...]:
    """Return the statistics of a time; contradictory samples are dropped, the time itself is kept."""
    least, p10, p90 = times.min_us, times.p10_us, times.p90_us
    if least is None or p10 is None or p90 is None or not 0 < least <= p10 <= p90 < LONGEST_US:
        least = p10 = p90 = None
    return times.time_us, least, p10, p90, times.samples


def _told(columns: Mapping[str, object]) -> list[object]:
    """Return the fields that identify a row, whichever format it came in."""
    time_us = columns["time_us"]
    # Files have times in other units, so the last digits differ after conversion.
    return [columns["config_hash"], columns["status"], None if time_us is None else f"{time_us:.12g}"]


def _finite(seconds: float | None) -> float | None:
    return seconds if seconds is not None and math.isfinite(seconds) and seconds >= 0 else None


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat()


def _read_moment(text: str | None) -> datetime | None:
    """Parse a moment to UTC; None if it is missing or has no time zone."""
    try:
        at = None if text is None else datetime.fromisoformat(text)
        return at.astimezone(UTC) if at is not None and at.tzinfo is not None else None
    except (ValueError, OverflowError):  # the latter of one that is before the year 1 in UTC
        return None
