"""Convert between stored rows and the results of Kernel Tuner and T4 files."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import cast
from uuid import UUID

from sqlalchemy.orm import Session

from codegen import KernelConfig
from db.queries.results import trials
from db.schema.recording import RecordedTrial as RecordedTrialRow
from db.schema.recording import Recording as RecordingRow
from db.schema.target import Device as DeviceRow
from db.schema.target import Problem as ProblemRow
from db.schema.trial import Trial as TrialRow
from db.values import JsonObject
from service.api.exchange.exporting import find_over
from service.errors import BadRequest, Conflict
from service.gemm_json import config_from_json, problem_from_json
from tuner.exchange.parameters import parameters_of
from tuner.exchange.results import Provenance, Results, Times, Tried
from tuner.exchange.t1 import Argument, Launch
from tuner.session.trial import Status

_KERNEL = "gemm"


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
    job = find_over(session, job_id)
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


def of_recording(recording: RecordingRow) -> Written:
    """Return the results of a recording."""
    of = recording.problem, recording.device, recording.named
    source = _source(*of, recording.label, recording.origin, None)
    configs = [config_from_json(row.config) for row in recording.tried]
    return Written(_results(source, configs, [_recorded(row) for row in recording.tried]), None, 0)


def _source(problem: ProblemRow, device: DeviceRow, name: str, label: str, origin: str, job: str | None) -> Provenance:
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


def _tried(row: TrialRow) -> Tried:
    m = row.measurement
    times = None if m is None else Times(m.median_us, m.min_us, m.p10_us, m.p90_us, m.samples)
    at = m.measured_at if m is not None else row.ended_at
    return Tried((), Status(row.status), times, row.reason, row.compile_s, row.verify_s, row.measure_s, _moment(at))


def _recorded(row: RecordedTrialRow) -> Tried:
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


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat()
