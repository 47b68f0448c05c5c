"""/v1/kernels/{id}/binaries and /v1/binaries: native binaries of kernels."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query, Response

from service.api.kernels import binaries, service
from service.api.kernels.schemas import BinaryList, BinaryOut, BinaryQuery, RebuildOut
from service.api.keys.guard import (
    READ,
    TUNE,
    CallerDep,
    guarded_router,
)
from service.http.deps import (
    ContextDep,
    ReadSessionDep,
)
from service.http.responses import (
    CONFLICT,
    NOT_FOUND,
    TOO_MANY,
    Responses,
)

router = guarded_router("/v1", "kernels")

_CREATED: Responses = {200: {"model": BinaryOut, "description": "It is here already"}}
KernelId = Annotated[UUID, Path(description="Id of the kernel", examples=["01970a3c-0000-7000-8000-000000000000"])]


@router.get("/kernels/{kernel_id}/binaries", responses=NOT_FOUND, dependencies=[READ])
def list_binaries(kernel_id: KernelId, session: ReadSessionDep, query: Annotated[BinaryQuery, Query()]) -> BinaryList:
    """List the native binaries of a kernel; with `driver` those for it first, the others with what has changed."""
    return service.list_binaries(session, kernel_id, query)


@router.post(
    "/kernels/{kernel_id}/binaries",
    status_code=201,
    responses=_CREATED | CONFLICT | NOT_FOUND | TOO_MANY,
    dependencies=[TUNE],
)
def build_binary(kernel_id: KernelId, context: ContextDep, response: Response, by: CallerDep) -> BinaryOut:
    """Build the native binary of a kernel with the installed compiler of Intel, for the driver of its version."""
    with context.compiler.slots.one():
        found, is_new = binaries.build(context.database, context.artifacts, context.settings, by, kernel_id)
    response.status_code = HTTPStatus.CREATED if is_new else HTTPStatus.OK
    return found


@router.post("/binaries/rebuild", status_code=202, responses=CONFLICT | TOO_MANY, dependencies=[TUNE])
def rebuild_binaries(
    context: ContextDep,
    by: CallerDep,
    most: Annotated[int, Query(ge=1, le=100, description="Most kernels of this request", examples=[20])] = 20,
) -> RebuildOut:
    """Queue jobs that rebuild stale binaries: those of kernels without one for the driver of the installed compiler.

    A schedule of stale results does so, too, with `binaries`.
    """
    return binaries.queue_rebuilds(context.database, context.settings, by, most)
