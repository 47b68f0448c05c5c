"""Warm starts of a job: selected from the database once and stored with the job, so that they survive restarts."""

from itertools import zip_longest
from typing import cast
from uuid import UUID

from sqlalchemy.orm import Session

from codegen import GemmProblem, InvalidConfig, InvalidProblem, KernelConfig
from db.queries import jobs, recordings
from db.queries.results import recorded_starts, warm_starts
from db.schema.job import Job as JobRow
from db.schema.recording import Recording as RecordingRow
from db.schema.target import Device as DeviceRow
from db.schema.trial import Trial as TrialRow
from db.session import Database
from db.values import JsonObject
from hal import DeviceSpec
from service.device_json import spec_from_json
from service.gemm_json import config_from_json, problem_from_json, problem_to_json
from tuner.search.warm_start import (
    MOST,
    OF_A_JOB,
    Donor,
    epilogue_class,
    fitted,
    kinship,
)

_JOBS = 10


def donors_for(database: Database, job_id: UUID, problem: GemmProblem, spec: DeviceSpec) -> list[KernelConfig]:
    """Return the warm starts of a job, best first; they are selected on the first call."""
    with database.read() as session:
        chosen = warm_starts.of_job(session, job_id)
    if not chosen:
        with database.write() as session:
            chosen = _chosen(session, job_id, problem, spec)
            warm_starts.put(session, job_id, chosen)
    return fitted((found for found in map(_read, chosen) if found is not None), problem, spec)


def _chosen(session: Session, job_id: UUID, problem: GemmProblem, spec: DeviceSpec) -> list[JsonObject]:
    """Return the warm starts of a job; none if it has a time already."""
    job = jobs.get(session, job_id)
    if job is None or job.best_trial_id is not None:
        return []
    elsewhere = nearest_recorded(session, job, problem, spec)
    of_jobs = nearest(session, job, problem, spec)[: MOST - len(elsewhere)]
    return [*warm_starts.of_trials(session, of_jobs), *recorded_starts.of_recorded(session, elsewhere)]


def nearest(session: Session, job: JobRow, problem: GemmProblem, spec: DeviceSpec) -> list[tuple[int, float]]:
    """Return trials with the distances of their problems: the winners of the nearest jobs, then their second
    best, and so on.

    The order is: same device, same architecture, others; then the smaller distance, then the newer job.
    """
    near = [found for found in warm_starts.alike(session, problem_to_json(problem)) if found.job_id != job.id]
    rows = warm_starts.devices(session, {found.device_id for found in near})
    kin = {id: _kinship(row, spec) for id, row in rows.items()}
    sizes = problem.m, problem.n, problem.k, problem.batch
    ranked = sorted(
        (rank, warm_starts.distance(found.sizes, sizes), place, found)
        for place, found in enumerate(near)
        if (rank := kin[found.device_id]) is not None
    )
    chosen: list[tuple[float, list[TrialRow]]] = []
    for _, far, _, found in ranked:
        if len(chosen) == _JOBS:
            break
        definition = warm_starts.definitions(session, {found.problem_id})[found.problem_id].definition
        if _is_alike(definition, problem):
            chosen.append((far, warm_starts.fastest(session, found.job_id, OF_A_JOB)))
    by_rank = zip_longest(*(trials for _, trials in chosen))
    offered: dict[tuple[str, int], tuple[int, float]] = {}
    for row in by_rank:
        for (far, _), trial in zip(chosen, row, strict=True):
            if trial is not None:
                offered.setdefault((trial.config_hash, trial.job.problem_id), (trial.id, far))
    return list(offered.values())[:MOST]


def nearest_recorded(session: Session, job: JobRow, problem: GemmProblem, spec: DeviceSpec) -> list[tuple[int, float]]:
    """Return the fastest recorded trials of the nearest recording, with the distance of its problem; ranked
    as jobs are.
    """
    sizes = problem.m, problem.n, problem.k, problem.batch
    near: list[tuple[int, float, int, RecordingRow]] = []
    for place, found in enumerate(recordings.alike(session, job.problem)):
        kin, of = _kinship(found.device, spec), found.problem
        if kin is not None and _is_alike(of.definition, problem):
            near.append((kin, warm_starts.distance((of.m, of.n, of.k, of.batch), sizes), place, found))
    if not near:
        return []
    _, far, _, nearest_ = min(near, key=lambda found: found[:3])
    return [(trial.id, far) for trial in recordings.fastest(session, nearest_.id, OF_A_JOB)]


def _kinship(row: DeviceRow, spec: DeviceSpec) -> int | None:
    try:
        return kinship(spec, spec_from_json(row.spec))
    except ValueError:  # of another version
        return None


def _is_alike(definition: dict[str, object], problem: GemmProblem) -> bool:
    try:
        other = problem_from_json(definition)
    except InvalidProblem:  # of another version
        return False
    return (epilogue_class(other), other.dynamic) == (epilogue_class(problem), problem.dynamic)


def _read(warm_start: JsonObject) -> Donor | None:
    config, definition = cast(JsonObject, warm_start["config"]), cast(JsonObject, warm_start["definition"])
    try:
        return Donor(config_from_json(config), problem_from_json(definition))
    except (InvalidConfig, InvalidProblem):
        return None
