"""/v1/kernels."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from codegen import DType, GemmProblem
from service.deps import Context, ContextDep, ReadSessionDep
from service.kernels import files, service
from service.kernels.schemas import KernelOut, LookupBody, LookupOut
from service.responses import BAD_REQUEST, NOT_FOUND, RANGE, TOO_LARGE, Responses
from service.schemas import to_problem

router = APIRouter(prefix="/v1/kernels", tags=["kernels"])

_BYTES: dict[str, object] = {"schema": {"type": "string", "format": "binary"}}
_FILE: Responses = {
    200: {"description": "The bytes; ETag is their SHA-256", "content": {"application/octet-stream": _BYTES}},
    206: {"description": "The bytes of one range", "content": {"application/octet-stream": _BYTES}},
    304: {"description": "The client has them"},
}


@router.post("/lookup", responses=BAD_REQUEST | NOT_FOUND | TOO_LARGE)
def look_up_kernel(body: LookupBody, context: ContextDep) -> LookupOut:
    """The best kernel for a whole problem on a device. A miss is a 404 whose `next` says what would make one."""
    return _look_up(context, to_problem(body.problem), body.device, body.target)


@router.get("", responses=BAD_REQUEST | NOT_FOUND)
def find_kernel(
    context: ContextDep,
    m: Annotated[int, Query(description="Rows of C, in elements", examples=[512])],
    n: Annotated[int, Query(description="Columns of C, in elements", examples=[384])],
    k: Annotated[int, Query(description="Length of the sums, in elements", examples=[1024])],
    dtype: Annotated[DType, Query(description="Element type of A and B")] = DType.F16,
    dtype_c: Annotated[DType, Query(description="Element type of C")] = DType.F32,
    device: Annotated[str, Query(min_length=1, max_length=200, description="Device id, or auto")] = "auto",
    target: Annotated[
        str | None, Query(min_length=1, max_length=200, description="GPU that an emulating device stands in for")
    ] = None,
) -> LookupOut:
    """The best kernel for a plain GEMM: row-major, tight, one matrix, no epilogue."""
    problem = GemmProblem(m, n, k, dtype_a=dtype, dtype_b=dtype, dtype_c=dtype_c)
    return _look_up(context, problem, device, target)


@router.get("/{kernel_id}", responses=NOT_FOUND)
def read_kernel(kernel_id: UUID, session: ReadSessionDep) -> KernelOut:
    """A kernel, its launch, its files, and the evidence of its best trial."""
    return service.read_kernel(session, kernel_id)


@router.get("/{kernel_id}/artifacts/{name}", response_class=Response, responses=_FILE | NOT_FOUND | RANGE)
def read_artifact(kernel_id: UUID, name: str, request: Request, context: ContextDep) -> Response:
    """A file of a kernel. It never changes: If-None-Match and Range are honoured."""
    with context.database.read() as session:
        artifact = service.find_artifact(session, kernel_id, name)
    return files.answer(artifact, context.artifacts, request.headers)


def _look_up(context: Context, problem: GemmProblem, device: str, target: str | None) -> LookupOut:
    found = context.devices.resolve(device, target)  # may probe: before the transaction
    with context.database.read() as session:
        return LookupOut(kernel=service.look_up(session, problem, found))
