"""The application in this process, which answers a command that works with the database of this machine."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal
from starlette.types import ASGIApp, Receive, Scope, Send

from service.api.keys.caller import COMMAND_LINE
from service.app import add_routes, app_of
from service.cli.access.own_context import own_context
from xetune_client import Client

if TYPE_CHECKING:
    from hal.probe.probe import Probes


@contextmanager
def in_process(probes: "Callable[[], Probes] | None" = None) -> Generator[Client]:
    """Open the client of the application in this process; a missing database is created and migrated.

    `probes` returns the results of probes of the drivers that the command started.

    Raises:
        InvalidSettings, DatabaseError: the database of this machine cannot be used.
    """
    with own_context(probes) as context:
        app = app_of(context, on_demand=True)
        with (
            start_blocking_portal() as portal,
            Client("http://localhost", "", transport=_InProcess(app, partial(add_routes, app), portal)) as client,
        ):
            yield client


class _InProcess(httpx.BaseTransport):
    """Sends requests to an application in this process, as the command line, which needs no API key.

    `prepare` is called with the path of each request.
    """

    def __init__(self, app: ASGIApp, prepare: Callable[[str], None], portal: BlockingPortal) -> None:
        async def as_command_line(scope: Scope, receive: Receive, send: Send) -> None:
            prepare(scope["path"])
            await app({**scope, "state": {"caller": COMMAND_LINE}}, receive, send)

        self._asgi, self._portal = httpx.ASGITransport(as_command_line), portal

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._portal.call(self._answer, request)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        response = await self._asgi.handle_async_request(request)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        body = b"".join([part async for part in response.stream])
        return httpx.Response(response.status_code, headers=response.headers, content=body)
