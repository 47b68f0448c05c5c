"""Jobs that lookups queue where their answers are not good enough."""

from collections.abc import Sequence
from uuid import UUID

from codegen import InvalidProblem
from service.api.jobs.requests import (
    submit,
    understand,
)
from service.api.jobs.schemas import JobBody
from service.api.kernels.lookup.answer_cache import Kept
from service.api.kernels.lookup.answers import Wanted
from service.api.kernels.lookup.batch_schemas import (
    BatchBody,
    PlacedJob,
)
from service.api.kernels.lookup.schemas import LookupOut, MissOut
from service.api.kernels.schemas import LookupBody
from service.api.kernels.tune import Tune
from service.api.keys.caller import Caller
from service.api.keys.scope import Scope
from service.errors import BadRequest, FieldError, Forbidden, ServiceError
from service.http.context import Context
from service.refusals import REFUSALS, refusal_of
from service.schemas import to_problem
from tuner.session.job_spec import JobSpec


def check_may_tune(by: Caller, tune: Tune) -> None:
    """Check that the caller may queue jobs.

    Raises:
        Forbidden: rule `scope`.
    """
    if tune is not Tune.NEVER and not by.scope.includes(Scope.TUNE):
        raise Forbidden(f"the API key {by.name!r} is for {by.scope}, to queue a job needs {Scope.TUNE}", rule="scope")


def wanted_of(body: BatchBody) -> list[Wanted | MissOut]:
    """Return the lookups of a batch; an invalid problem is a miss.

    Raises:
        BadRequest: rule `batch-devices`.
    """
    count = len(body.problems)
    devices = [body.device] * count if isinstance(body.device, str) else body.device
    if len(devices) != count:
        message = f"expected one device, or one for each of {count} problems, got {len(devices)}"
        raise BadRequest(message, rule="batch-devices", errors=[FieldError(field="device", message=message)])
    wanted: list[Wanted | MissOut] = []
    for index, (problem, device) in enumerate(zip(body.problems, devices, strict=True)):
        field = "device" if isinstance(body.device, str) else f"device.{index}"
        try:
            wanted.append(Wanted(to_problem(problem), device, body.target, field))
        except InvalidProblem as error:
            sizes = f"{problem.m}x{problem.n}x{problem.k}"
            wanted.append(MissOut(problem=sizes, device=device, rule="invalid-problem", detail=str(error)))
    return wanted


def tune_all(context: Context, by: Caller, body: BatchBody, kept: Sequence[Kept]) -> list[PlacedJob]:
    """Queue jobs for the problems of a batch as `tune` requests; all, or none if the limit would be exceeded.

    Raises:
        TooMany: rule `active-jobs`.
    """
    devices = [body.device] * len(kept) if isinstance(body.device, str) else body.device
    requests: dict[int, JobSpec] = {}
    refused: dict[int, str] = {}
    for index, each in enumerate(kept):
        if body.tune is Tune.NEVER or (each.source is not None and not each.source.is_reason_for(body.tune)):
            continue
        asked = JobBody(problem=body.problems[index], device=devices[index], target=body.target)
        try:
            requests[index] = understand(asked, context.devices, context.settings)
        except (ServiceError, *REFUSALS) as error:
            refused[index] = str(error if isinstance(error, ServiceError) else refusal_of(error))
    jobs = dict(zip(requests, queue(context, by, list(requests.values())), strict=True))
    return [PlacedJob(index=index, job=jobs.get(index), refused=refused.get(index)) for index in sorted(jobs | refused)]


def with_job(context: Context, by: Caller, body: LookupBody, found: LookupOut) -> LookupOut:
    """Return the answer to a lookup with the job that is queued for it; raises as `queue` and `understand`."""
    asked = JobBody(problem=body.problem, device=body.device, target=body.target)
    (job,) = queue(context, by, [understand(asked, context.devices, context.settings)])
    return found.model_copy(update={"job": job})


def queue(context: Context, by: Caller, requests: Sequence[JobSpec]) -> list[UUID]:
    """Return the jobs of requests, new ones or identical active ones.

    Raises:
        TooMany: rule `active-jobs`; none of them is queued.
    """
    if not requests:
        return []
    queued: list[UUID] = []
    with context.database.write() as session:
        for request in requests:
            job, _ = submit(session, request, context.settings.max_active_jobs, by)
            queued.append(job.id)
    return queued
