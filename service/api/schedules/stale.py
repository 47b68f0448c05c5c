"""Stale results, and the jobs that would update them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import ValidationError

from codegen import CodegenError
from db.queries.results import staleness
from db.queries.results.staleness import MadeWith
from db.schema.target import Problem
from db.values import JsonObject
from hal import HalError
from service.api.devices.directory import DeviceDirectory
from service.api.jobs.requests import (
    understand,
)
from service.api.jobs.schemas import JobBody
from service.api.kernels.lookup.staleness import changes
from service.api.keys.caller import Caller
from service.api.schedules.planning import Planning
from service.api.schedules.schemas import StaleBody
from service.errors import Conflict, ServiceError, TooMany
from service.schemas import ProblemBody
from service.telemetry.loggers import Logger
from tuner.errors import TunerError
from tuner.session.job_spec import JobSpec

_SHOWN = 3
_log = Logger(__name__)


@dataclass(frozen=True, slots=True)
class StaleWork:
    """Jobs to queue for stale results, and the reasons why others cannot be queued; `found` is the number of
    stale results.
    """

    jobs: tuple[JobSpec, ...]
    refusals: tuple[str, ...]
    found: int

    @property
    def remark(self) -> str | None:
        """Describe what was left out; None if nothing was."""
        more = f"; {len(self.refusals) - _SHOWN} more" if len(self.refusals) > _SHOWN else ""
        return "; ".join(self.refusals[:_SHOWN]) + more if self.refusals else None


def stale_work(body: StaleBody, planning: Planning) -> StaleWork:
    """Return jobs for stale results, the least recently requested first; at most as many as the body allows.

    A result is stale if no result of its problem on its device was made with the current versions. A measured
    result is only updated by measuring: if its device is not local, it is left out.

    Raises:
        DatabaseError: the database does not answer.
    """
    with planning.database.read() as session:
        rows = staleness.made_with(session, body.devices)
        old = _stale(rows, planning.devices)
        asked = staleness.last_asked(session, (problem_id for problem_id, _ in old))
    waiting = sorted(old, key=lambda pair: (asked[pair].timestamp() if pair in asked else 0.0, pair))
    jobs: list[JobSpec] = []
    refusals: list[str] = []
    for begin in range(0, len(waiting), body.most_jobs):
        pairs = waiting[begin : begin + body.most_jobs]
        with planning.database.read() as session:
            problems = staleness.problems_of(session, {problem_id for problem_id, _ in pairs})
        for pair in pairs:
            if len(jobs) == body.most_jobs:
                return StaleWork(tuple(jobs), tuple(refusals), len(waiting))
            try:
                jobs.append(_request(problems[pair[0]], pair[1], old[pair], body, planning))
            except (ServiceError, CodegenError, HalError, TunerError, ValidationError) as error:
                refusals.append(f"{pair[1]}: {error}")
    return StaleWork(tuple(jobs), tuple(refusals), len(waiting))


def rebuild_stale_binaries(kind: str, template: JsonObject, planning: Planning, by: Caller) -> None:
    """Queue jobs that rebuild native binaries of other drivers, if a schedule asks for it.

    A compiler that is missing, or too many jobs, are logged: the other jobs of the schedule do without.
    """
    if kind != "stale" or not isinstance(most := template.get("binaries"), int) or most < 1:
        return
    # Imported here: few schedules ask for it.
    from service.api.kernels.binaries import queue_rebuilds

    try:
        queue_rebuilds(planning.database, planning.settings, by, most)
    except (Conflict, TooMany) as error:
        _log.warning("native binaries are not rebuilt", reason=error.detail)


def _stale(rows: Iterable[MadeWith], directory: DeviceDirectory) -> dict[tuple[int, str], bool]:
    """Return problems and devices without a valid result, each with whether one was measured."""
    drivers = {device.spec.id: device.spec.driver for device in directory.all() if device.runnable}
    valid: set[tuple[int, str]] = set()
    measured: dict[tuple[int, str], bool] = {}
    toolchains: dict[str, dict[str, object]] = {}
    for row in rows:
        pair = row.problem_id, row.device
        toolchain = toolchains.setdefault(row.toolchain, json.loads(row.toolchain))
        model = row.model if row.driver is None else None
        if not changes(toolchain, row.driver, model, drivers.get(row.device)):
            valid.add(pair)
        measured[pair] = measured.get(pair, False) or row.driver is not None
    return {pair: was_measured for pair, was_measured in measured.items() if pair not in valid}


def _request(problem: Problem, device: str, was_measured: bool, body: StaleBody, planning: Planning) -> JobSpec:
    asked = JobBody(problem=ProblemBody.model_validate(problem.definition), device=device, budget=body.budget)
    request = understand(asked, planning.devices, planning.settings)
    if was_measured and request.device.driver is None:
        raise HalError("its results were measured, and it is not in this machine")
    return request
