"""Bodies of requests written to disk while they are received, so that they need no memory."""

from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import anyio
from anyio.to_thread import run_sync
from fastapi import Request
from starlette.requests import ClientDisconnect

from hal.process.temporary import temporary_folder
from service.errors import BadRequest, Unavailable


@asynccontextmanager
async def upload_folder(purpose: str) -> AsyncGenerator[Path]:
    """Make a temporary folder for the block.

    Raises:
        Unavailable: rule `upload-storage`: it cannot be made.
    """
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(temporary_folder(purpose))
        except OSError as error:
            raise Unavailable(f"the file cannot be kept while it is read: {error}", rule="upload-storage") from error
        try:
            yield folder
        finally:
            with anyio.CancelScope(shield=True):
                await run_sync(stack.close)


async def save_body(request: Request, path: Path, see: Callable[[bytes], object] = len) -> None:
    """Write the body to a file; `see` is called with each part of it.

    Raises:
        BadRequest: rule `cut-off`: the client disconnected.
        Unavailable: rule `upload-storage`: the file cannot be written, e.g. the disk is full.
    """
    try:
        async with await anyio.open_file(path, "wb") as file:
            async for part in request.stream():
                see(part)
                await file.write(part)
    except ClientDisconnect as error:
        raise BadRequest("the file did not come to its end; send it again", rule="cut-off") from error
    except OSError as error:
        raise Unavailable(f"the file cannot be kept while it is read: {error}", rule="upload-storage") from error
