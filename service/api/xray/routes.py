"""POST /v1/xray, and GET /v1/kernels/{id}/xray."""

from collections.abc import AsyncGenerator
from pathlib import Path as FilePath
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Path, Query, Request

from service.api.keys.guard import (
    READ,
    TUNE,
    guarded_router,
)
from service.api.xray.schemas import XrayOut, XrayQuery
from service.api.xray.service import xray_file, xray_kernel
from service.http.body_file import save_body, upload_folder
from service.http.deps import ContextDep
from service.http.responses import (
    BAD_REQUEST,
    CONFLICT,
    NOT_FOUND,
    TOO_LARGE,
    TOO_MANY,
)

router = guarded_router("/v1", "kernels")

_BODY: dict[str, object] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/octet-stream": {
                "schema": {"type": "string", "format": "binary"},
                "example": "the bytes of the file",
            }
        },
        "description": "A zebin, a library or executable, an ar archive, a wheel or zip archive, or a SPIR-V module",
    }
}
KernelId = Annotated[UUID, Path(description="Id of the kernel", examples=["01970a3c-0000-7000-8000-000000000000"])]


async def _received(request: Request) -> AsyncGenerator[FilePath]:
    async with upload_folder("xray") as folder:
        path = folder / "upload"
        await save_body(request, path)
        yield path


ReceivedFile = Annotated[FilePath, Depends(_received)]
"""The body of a request in a file, which exists until the request is answered."""


@router.post(
    "/xray",
    openapi_extra=_BODY,
    responses=BAD_REQUEST | CONFLICT | TOO_LARGE | TOO_MANY,
    dependencies=[TUNE],
)
def xray_uploaded_file(received: ReceivedFile, query: Annotated[XrayQuery, Query()], context: ContextDep) -> XrayOut:
    """Report on the GPU kernels in a file of others: registers, spills, the K loop, its pipeline, hazards.

    Ours for the same problem are compiled beside them. The file is read in a sandboxed process; nothing is stored.
    """
    with received.open("rb") as file:
        return xray_file(context, file, query)


@router.get(
    "/kernels/{kernel_id}/xray",
    responses=BAD_REQUEST | CONFLICT | NOT_FOUND | TOO_MANY,
    dependencies=[READ],
)
def xray_stored_kernel(kernel_id: KernelId, context: ContextDep) -> XrayOut:
    """Report on the code of a stored kernel as on that of others, beside our best for its problem."""
    return xray_kernel(context, kernel_id)
