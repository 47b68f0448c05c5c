"""The application in this process, which answers a command that works with the database of this machine."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal
from starlette.types import ASGIApp, Receive, Scope, Send

from db.migrate import prepare
from db.session import open_database, sqlite_path
from service.api.keys.caller import COMMAND_LINE
from service.app import add_routes, create_app
from service.settings import Settings, read_settings
from service.telemetry.loggers import configure_late
from xetune_client import Client

if TYPE_CHECKING:
    from hal import ListedDevice
    from hal.probe.probe import Probes

_UNLIMITED = 2**40
_A_DAY_S = 86_400
_OF_OTHERS = ("max_body_bytes", "max_import_bytes", "max_import_s", "max_xray_bytes", "max_xray_s", "xray_memory_bytes")
"""Limits on what others send; a command is of the user."""


@contextmanager
def in_process(probes: "Callable[[], Probes] | None" = None) -> Generator[Client]:
    """Open the client of the application in this process; a missing database is created and migrated.

    `probes` returns the results of probes of the drivers that the command started.

    Raises:
        InvalidSettings, DatabaseError: the database of this machine cannot be used.
    """
    settings = command_settings()
    prepare(settings.database_url, create=True).close()
    limits = dict.fromkeys(_OF_OTHERS, _UNLIMITED)
    # A sampler runs as the user who names it.
    own = {"scheduler": False, "allowed_hosts": "*", "samplers": "*", **limits}
    own |= {"xray_wall_s": _A_DAY_S, "xray_cpu_s": _A_DAY_S}
    app = create_app(settings.model_copy(update=own), _lister(settings, probes), on_demand=True)
    try:
        with (
            start_blocking_portal() as portal,
            Client("http://localhost", "", transport=_InProcess(app, partial(add_routes, app), portal)) as client,
        ):
            yield client
    finally:
        app.state.context.close()


def _lister(settings: Settings, probes: "Callable[[], Probes] | None") -> "Callable[[], Sequence[ListedDevice]] | None":
    if probes is None:
        return None
    from service.api.toolchain.driver import list_with_simulated

    return partial(list_with_simulated, settings, probes)


def has_database() -> bool:
    """Return False if the database of this machine is a file that does not exist."""
    path = sqlite_path(open_database(read_settings().database_url).engine)
    return path is None or path.exists()


def command_settings() -> Settings:
    """Return the settings of a command, whose log holds only warnings: it prints the rest itself.

    Raises:
        InvalidSettings: a setting is invalid.
    """
    settings = read_settings()
    configure_late(settings.model_copy(update={"log_level": "warning"}))
    return settings


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
