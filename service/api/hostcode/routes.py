"""/v1/kernels/ID/host-code."""

from typing import Annotated
from uuid import UUID

from fastapi import Path, Response

from service.api.hostcode import service
from service.api.hostcode.languages import Language
from service.api.hostcode.schemas import HostCodeList
from service.api.keys.guard import (
    READ,
    guarded_router,
)
from service.http.deps import ReadSessionDep
from service.http.responses import (
    CONFLICT,
    NOT_FOUND,
    Responses,
)

router = guarded_router("/v1/kernels/{kernel_id}/host-code", "kernels")

_PROGRAM = {"schema": {"type": "string"}, "example": '"""Runs a kernel with pyopencl."""\n...\n'}
_TEXT: Responses = {
    200: {
        "description": "The program",
        "content": {
            "text/x-python": _PROGRAM,
            "text/x-c++src": {"schema": {"type": "string"}, "example": "#include <sycl/sycl.hpp>\n..."},
        },
    }
}
KernelId = Annotated[UUID, Path(description="Id of the kernel", examples=["01970a3c-0000-7000-8000-000000000000"])]


@router.get("", responses=NOT_FOUND | CONFLICT, dependencies=[READ])
def list_host_code(kernel_id: KernelId, session: ReadSessionDep) -> HostCodeList:
    """List the programs for a kernel: one for each API."""
    return service.list_host_code(session, kernel_id)


@router.get("/{language}", response_class=Response, responses=_TEXT | NOT_FOUND | CONFLICT, dependencies=[READ])
def read_host_code(
    kernel_id: KernelId,
    language: Annotated[Language, Path(description="API that it uses", examples=["pyopencl"])],
    session: ReadSessionDep,
) -> Response:
    """Return a complete program that runs a kernel: it allocates memory, launches every step, verifies
    results against a reference and measures the time with events.

    A program of a kernel with dynamic shapes accepts other sizes.
    """
    text = service.read_host_code(session, kernel_id, language)
    headers = {"Content-Disposition": f'attachment; filename="{language.file_name}"'}
    return Response(text, headers=headers, media_type=language.media_type)
