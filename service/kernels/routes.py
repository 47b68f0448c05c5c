"""/v1/kernels."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from codegen import GemmProblem
from codegen.cache import CompileCache
from service.audit.log import Outcome, record
from service.deps import Context, ContextDep, ReadSessionDep
from service.devices.elsewhere import device_elsewhere
from service.errors import BadRequest, Forbidden
from service.jobs.requests import submit, understand
from service.jobs.schemas import JobBody
from service.kernels import service
from service.kernels.lookup import Lookup, kernels_of
from service.kernels.lookup_schemas import LookupOut
from service.kernels.schemas import KernelOut, LookupBody, LookupQuery, Tune
from service.keys.guard import READ, CallerDep, GuardedRoute
from service.keys.scopes import Scope
from service.responses import BAD_REQUEST, CONFLICT, NOT_FOUND, TOO_LARGE, TOO_MANY
from service.schemas import to_problem

router = APIRouter(prefix="/v1/kernels", tags=["kernels"], route_class=GuardedRoute)


@router.post("/lookup", responses=BAD_REQUEST | CONFLICT | NOT_FOUND | TOO_LARGE | TOO_MANY, dependencies=[READ])
def look_up_kernel(body: LookupBody, context: ContextDep, by: CallerDep) -> LookupOut:
    """What to run for a whole problem on a device, from the first of five sources, and how far to trust it.

    A 404 says that nothing is stored and nothing can be compiled.
    """
    if body.tune is not Tune.NEVER and not by.scope.includes(Scope.TUNE):
        raise Forbidden(f"the API key {by.name!r} is for {by.scope}, to queue a job needs {Scope.TUNE}", rule="scope")
    found = _look_up(context, to_problem(body.problem), body.device, body.target)
    if not found.source.is_reason_for(body.tune):
        return found
    asked = JobBody(problem=body.problem, device=body.device, target=body.target)
    request = understand(asked, context.devices, context.settings)
    with context.database.write() as session:
        job, is_new = submit(session, request, context.settings.max_active_jobs)
        record(session, by, "job.create", job.id, Outcome.DONE if is_new else Outcome.UNCHANGED)
    return found.model_copy(update={"job": job.id})


@router.get("", responses=BAD_REQUEST | NOT_FOUND, dependencies=[READ])
def find_kernel(context: ContextDep, query: Annotated[LookupQuery, Query()]) -> LookupOut:
    """What to run for a problem on a device. What is left out is plain: row-major, tight, no epilogue."""
    return _look_up(context, query.problem(), query.device, query.target)


@router.get("/{kernel_id}", responses=NOT_FOUND, dependencies=[READ])
def read_kernel(kernel_id: UUID, session: ReadSessionDep) -> KernelOut:
    """A kernel, its launch, its files, and the evidence of its best trial."""
    return service.read_kernel(session, kernel_id)


def _look_up(context: Context, problem: GemmProblem, device: str, target: str | None) -> LookupOut:
    try:
        found = context.devices.resolve(device, target)  # may probe: before the transaction
    except BadRequest:
        with context.database.read() as session:
            known = device_elsewhere(session, device.strip().lower()) if target is None else None
        if known is None:
            raise
        found = known
    cache = CompileCache(context.settings.cache_dir)
    with context.database.read() as session:
        return Lookup(session, problem, found, context.now(), kernels_of(cache, found.spec)).answer()
