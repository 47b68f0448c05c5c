"""The client that a command uses: of a service, or of the application in this process."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal
from pydantic import BaseModel
from starlette.types import ASGIApp, Receive, Scope, Send

from db.migrate import prepare
from db.session import open_database, sqlite_path
from service.api.keys.caller import COMMAND_LINE
from service.cli.chosen_server import server
from service.errors import BadRequest
from service.logs import configure_logs
from service.settings import Settings, read_settings
from xetune_client import Client, ClientError, Misused, NotReached, Refused, Retries, models
from xetune_client.server import address

M = TypeVar("M", bound=BaseModel)
_UNLIMITED = 2**40
_A_DAY_S, _TIMEOUT_S = 86_400, 60.0
_OF_OTHERS = ("max_body_bytes", "max_import_bytes", "max_import_s", "max_xray_bytes", "max_xray_s", "xray_memory_bytes")
"""Limits on what others send; a command is of the user."""
_BY_A_RULE = "urn:xetune:problem:refused"


@contextmanager
def connect(timeout_s: float = _TIMEOUT_S) -> Generator[Client]:
    """Open the client of the chosen service, which answers within `timeout_s`, or of the application in this process.

    Raises:
        InvalidSettings, DatabaseError: the database of this machine cannot be used.
        BadRequest: the URL of the service is invalid.
    """
    with in_process() if (url := server()) is None else of_service(url, timeout_s=timeout_s) as client:
        yield client


@contextmanager
def of_service(url: str, attempts: int | None = None, timeout_s: float = _TIMEOUT_S) -> Generator[Client]:
    """Open the client of the service at a URL; `attempts` bounds how often a request is sent, `timeout_s` each.

    Raises:
        BadRequest: the URL is invalid.
    """
    try:
        retries = Retries() if attempts is None else Retries(attempts=attempts)
        client = Client(url, retries=retries, timeout_s=timeout_s)
    except Misused as error:
        raise BadRequest(str(error)) from error
    with client:
        yield client


@contextmanager
def in_process() -> Generator[Client]:
    """Open the client of the application in this process; a missing database is created and migrated.

    Raises:
        InvalidSettings, DatabaseError: the database of this machine cannot be used.
    """
    # Imported here: commands that work with a service do without the application.
    from service.app import add_routes, create_app

    settings = command_settings()
    prepare(settings.database_url, create=True).close()
    limits = dict.fromkeys(_OF_OTHERS, _UNLIMITED)
    # A sampler runs as the user who names it.
    own = {"scheduler": False, "allowed_hosts": "*", "samplers": "*", **limits}
    own |= {"xray_wall_s": _A_DAY_S, "xray_cpu_s": _A_DAY_S}
    app = create_app(settings.model_copy(update=own), on_demand=True)
    try:
        with (
            start_blocking_portal() as portal,
            Client("http://localhost", "", transport=_InProcess(app, partial(add_routes, app), portal)) as client,
        ):
            yield client
    finally:
        app.state.context.close()


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
    configure_logs(settings.model_copy(update={"log_level": "warning"}))
    return settings


def file_places(kernel: models.KernelOut) -> dict[str, str]:
    """Return where the files of a kernel are, by name: paths on this machine, or URLs of the service."""
    if (url := server()) is not None:
        base = str(address(url)).rstrip("/")
        return {artifact.name: f"{base}{artifact.href}" for artifact in kernel.artifacts}
    from service.artifacts import ArtifactStore

    store = ArtifactStore(read_settings().artifacts_dir)
    return {artifact.name: str(store.path(artifact.sha256)) for artifact in kernel.artifacts}


def same(model: type[M], value: BaseModel) -> M:
    """Convert a model of the client to the service's model of the same schema, or back."""
    return model.model_validate_json(value.model_dump_json())


def message_of(error: Exception) -> str:
    """Return the one line that an error of a command is printed as."""
    match error:
        case Refused(status=401):
            return f"{error.detail}; set XETUNE_API_KEY to a key"
        case Refused():
            return f"refused by rule {error.rule}: {error.detail}" if error.type == _BY_A_RULE else error.detail
        case ClientError() if (url := server()) is not None:
            hint = "; does a service run there? `xetune serve` starts one" if isinstance(error, NotReached) else ""
            return f"{str(address(url)).rstrip('/')}: {error}{hint}"
        case _:
            return str(error)


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
