"""/v1/kernels."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from codegen import GemmProblem
from service.deps import Context, ContextDep, ReadSessionDep
from service.devices.elsewhere import device_elsewhere
from service.errors import BadRequest
from service.kernels import files, service
from service.kernels.schemas import KernelOut, LookupBody, LookupOut, LookupQuery
from service.keys.guard import READ
from service.responses import BAD_REQUEST, NOT_FOUND, RANGE, TOO_LARGE, Responses
from service.schemas import to_problem

router = APIRouter(prefix="/v1/kernels", tags=["kernels"])

_BYTES: dict[str, object] = {"schema": {"type": "string", "format": "binary"}}
_FILE: Responses = {
    200: {"description": "The bytes; ETag is their SHA-256", "content": {"application/octet-stream": _BYTES}},
    206: {"description": "The bytes of one range", "content": {"application/octet-stream": _BYTES}},
    304: {"description": "The client has them"},
}


@router.post("/lookup", responses=BAD_REQUEST | NOT_FOUND | TOO_LARGE, dependencies=[READ])
def look_up_kernel(body: LookupBody, context: ContextDep) -> LookupOut:
    """The best kernel for a whole problem on a device. A miss is a 404 whose `next` says what would make one."""
    return _look_up(context, to_problem(body.problem), body.device, body.target)


@router.get("", responses=BAD_REQUEST | NOT_FOUND, dependencies=[READ])
def find_kernel(context: ContextDep, query: Annotated[LookupQuery, Query()]) -> LookupOut:
    """The best kernel for a problem on a device. What is left out is plain: row-major, tight, no epilogue."""
    return _look_up(context, query.problem(), query.device, query.target)


@router.get("/{kernel_id}", responses=NOT_FOUND, dependencies=[READ])
def read_kernel(kernel_id: UUID, session: ReadSessionDep) -> KernelOut:
    """A kernel, its launch, its files, and the evidence of its best trial."""
    return service.read_kernel(session, kernel_id)


@router.get(
    "/{kernel_id}/artifacts/{name}", response_class=Response, responses=_FILE | NOT_FOUND | RANGE, dependencies=[READ]
)
def read_artifact(kernel_id: UUID, name: str, request: Request, context: ContextDep) -> Response:
    """A file of a kernel. It never changes: If-None-Match and Range are honoured."""
    with context.database.read() as session:
        artifact = service.find_artifact(session, kernel_id, name)
    return files.answer(artifact, context.artifacts, request.headers)


def _look_up(context: Context, problem: GemmProblem, device: str, target: str | None) -> LookupOut:
    try:
        found = context.devices.resolve(device, target)  # may probe: before the transaction
    except BadRequest:
        with context.database.read() as session:
            known = device_elsewhere(session, device.strip().lower()) if target is None else None
        if known is None:
            raise
        found = known
    with context.database.read() as session:
        return service.look_up(session, problem, found)
