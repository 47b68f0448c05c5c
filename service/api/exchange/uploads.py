"""Uploaded files: written to disk while they are received, so that they need no memory."""

import hashlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Depends, Request

from service.api.keys.guard import CallerDep
from service.http.body_file import save_body, upload_folder
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
    async with upload_folder("import") as folder:
        path = folder / "upload"
        once = Once(context, caller_name(by), key, await _kept(request, path))
        await run_sync(once.check)
        yield Upload(path, once)


async def _kept(request: Request, path: Path) -> str:
    """Write the body to a file; return the hash of the request. Raises as save_body."""
    digest = hashlib.sha256(asked_of(request))
    await save_body(request, path, digest.update)
    return digest.hexdigest()


UploadDep = Annotated[Upload, Depends(_upload)]
