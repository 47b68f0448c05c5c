"""/v1/kernels: stored kernels."""

from typing import Annotated
from uuid import UUID

from fastapi import Path, Query

from service.api.kernels import (
    listing,
    service,
    withdrawal,
)
from service.api.kernels.listing import (
    KernelPage,
    KernelQuery,
)
from service.api.kernels.schemas import KernelOut, WithdrawalBody
from service.api.keys.guard import (
    READ,
    TUNE,
    CallerDep,
    guarded_router,
)
from service.http.deps import ContextDep, ReadSessionDep
from service.http.responses import NOT_FOUND

router = guarded_router("/v1/kernels", "kernels")

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


@router.put("/{kernel_id:uuid}/withdrawal", responses=NOT_FOUND, dependencies=[TUNE])
def withdraw_kernel(kernel_id: KernelId, body: WithdrawalBody, context: ContextDep, by: CallerDep) -> KernelOut:
    """Withdraw a kernel: it stays stored with the reason, and no lookup serves it, nor any job its times.

    The best of each of its jobs is chosen again without it.
    """
    with context.database.write() as session:
        withdrawal.withdraw(session, by, kernel_id, body.reason, context.now())
        return service.read_kernel(session, kernel_id)


@router.delete("/{kernel_id:uuid}/withdrawal", status_code=204, responses=NOT_FOUND, dependencies=[TUNE])
def restore_kernel(kernel_id: KernelId, context: ContextDep, by: CallerDep) -> None:
    """Serve a withdrawn kernel again."""
    with context.database.write() as session:
        withdrawal.restore(session, by, kernel_id)
