"""/v1/artifacts, and the files of kernels."""

from typing import Annotated
from uuid import UUID

from fastapi import Path, Request, Response

from service.api.kernels import (
    files,
    service,
)
from service.api.keys.guard import (
    READ,
    guarded_router,
)
from service.http.deps import ContextDep
from service.http.responses import (
    NOT_FOUND,
    RANGE,
    Responses,
)

router = guarded_router("/v1", "kernels")

_BYTES: dict[str, object] = {"schema": {"type": "string", "format": "binary"}}
_CONTENT = {"application/octet-stream": _BYTES}
_FILE: Responses = {
    200: {"description": "The bytes; ETag is their SHA-256", "content": _CONTENT},
    206: {
        "description": "One or several ranges of bytes",
        "content": _CONTENT | {"multipart/byteranges": _BYTES},
    },
    304: {"description": "The client has the current version"},
}
_HEAD: Responses = {200: {"description": "The file exists; ETag is its SHA-256"}, 304: _FILE[304]}
_EXAMPLE = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
Sha256 = Annotated[str, Path(pattern="^[0-9a-f]{64}$", description="SHA-256 of the bytes, in hex", examples=[_EXAMPLE])]
KernelId = Annotated[UUID, Path(description="Id of the kernel", examples=["01970a3c-0000-7000-8000-000000000000"])]
FileName = Annotated[str, Path(description="Name of the file", examples=["kernel.spv"])]


@router.get("/artifacts/{sha256}", response_class=Response, responses=_FILE | NOT_FOUND | RANGE, dependencies=[READ])
def read_artifact(sha256: Sha256, request: Request, context: ContextDep) -> Response:
    """Return a file of any kernel by its hash. It never changes: If-None-Match and Range are supported."""
    return _answer(context, request, sha256)


@router.head("/artifacts/{sha256}", response_class=Response, responses=_HEAD | NOT_FOUND, dependencies=[READ])
def head_artifact(sha256: Sha256, request: Request, context: ContextDep) -> Response:
    """Return length, type and ETag of a file of any kernel."""
    return _answer(context, request, sha256)


@router.get(
    "/kernels/{kernel_id}/artifacts/{name}",
    response_class=Response,
    responses=_FILE | NOT_FOUND | RANGE,
    dependencies=[READ],
)
def read_kernel_file(kernel_id: KernelId, name: FileName, request: Request, context: ContextDep) -> Response:
    """Return a file of a kernel by its name. It never changes: If-None-Match and Range are supported."""
    return _answer_named(context, request, kernel_id, name)


@router.head(
    "/kernels/{kernel_id}/artifacts/{name}", response_class=Response, responses=_HEAD | NOT_FOUND, dependencies=[READ]
)
def head_kernel_file(kernel_id: KernelId, name: FileName, request: Request, context: ContextDep) -> Response:
    """Return length, type and ETag of a file of a kernel."""
    return _answer_named(context, request, kernel_id, name)


def _answer(context: ContextDep, request: Request, sha256: str) -> Response:
    with context.database.read() as session:
        artifact = service.find_artifact_by_hash(session, sha256)
    return files.answer(artifact, context.artifacts, request.headers, head=request.method == "HEAD")


def _answer_named(context: ContextDep, request: Request, kernel_id: UUID, name: str) -> Response:
    with context.database.read() as session:
        artifact = service.find_artifact(session, kernel_id, name)
    return files.answer(artifact, context.artifacts, request.headers, head=request.method == "HEAD")
