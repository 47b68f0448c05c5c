"""/v1/kernels: stored kernels."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query

from service.api.kernels import (
    listing,
    service,
)
from service.api.kernels.listing import (
    KernelPage,
    KernelQuery,
)
from service.api.kernels.schemas import KernelOut
from service.api.keys.guard import (
    READ,
    GuardedRoute,
)
from service.http.deps import ReadSessionDep
from service.http.responses import NOT_FOUND

router = APIRouter(prefix="/v1/kernels", tags=["kernels"], route_class=GuardedRoute)

KernelId = Annotated[UUID, Path(description="Id of the kernel", examples=["01970a3c-0000-7000-8000-000000000000"])]


@router.get("/stored", dependencies=[READ])
def list_kernels(session: ReadSessionDep, query: Annotated[KernelQuery, Query()]) -> KernelPage:
    """List stored kernels, newest first, with the time and correctness of their best trials.

    To select a kernel for a problem, use `GET /v1/kernels` with a problem.
    """
    return listing.list_kernels(session, query)


@router.get("/{kernel_id:uuid}", responses=NOT_FOUND, dependencies=[READ])
def read_kernel(kernel_id: KernelId, session: ReadSessionDep) -> KernelOut:
    """Return a kernel, its launch, its files, and the evidence of its best trial."""
    return service.read_kernel(session, kernel_id)
