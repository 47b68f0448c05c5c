"""Uploaded files: written to disk while they are received, so that they need no memory."""

import hashlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import anyio
from anyio.to_thread import run_sync
from fastapi import Depends, Request
from starlette.requests import ClientDisconnect

from service.api.keys.guard import CallerDep
from service.errors import BadRequest, Unavailable
from service.http.deps import ContextDep
from service.http.idempotency import (
    KeyHeader,
    Once,
    asked_of,
    caller_name,
)


@dataclass(frozen=True, slots=True)
class Upload:
    """An uploaded file, which exists until the request is answered, and whether it was received before."""

    path: Path
    once: Once


async def _upload(
    request: Request, context: ContextDep, by: CallerDep, key: KeyHeader = None
) -> AsyncGenerator[Upload]:
    async with anyio.TemporaryDirectory(prefix="xetune-import-") as folder:
        path = Path(folder) / "upload"
        once = Once(context, caller_name(by), key, await _kept(request, path))
        await run_sync(once.check)
        yield Upload(path, once)


async def _kept(request: Request, path: Path) -> str:
    """Write the body to a file; return the hash of the request.

    Raises:
        BadRequest: rule `cut-off`: the client disconnected.
        Unavailable: rule `upload-storage`: the file cannot be written, e.g. the disk is full.
    """
    digest = hashlib.sha256(asked_of(request))
    try:
        async with await anyio.open_file(path, "wb") as file:
            async for part in request.stream():
                digest.update(part)
                await file.write(part)
    except ClientDisconnect as error:
        raise BadRequest("the file did not come to its end; send it again", rule="cut-off") from error
    except OSError as error:
        raise Unavailable(f"the file cannot be kept while it is read: {error}", rule="upload-storage") from error
    return digest.hexdigest()


UploadDep = Annotated[Upload, Depends(_upload)]
