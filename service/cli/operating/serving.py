"""The HTTP server, its settings, and the processes beside it."""

import errno
import signal
import socket
import sys
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import FrameType

import uvicorn

from hal.process.temporary import remove_leftovers
from service.app import create_app
from service.http.server_protocol import ServerProtocol
from service.jobs.supervisor import Supervisor, end_with, end_within
from service.settings import InvalidSettings, Settings, read_settings, unknown_settings
from service.telemetry.loggers import Logger
from service.telemetry.logs import configure_logs
from service.telemetry.traces import configure_traces

_log = Logger(__name__)


def config_of(settings: Settings) -> uvicorn.Config:
    """Return the configuration of the HTTP server, whose log tells what this machine confines."""
    app = create_app(settings)
    app.state.context.compiler.prepare()
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        http=ServerProtocol,
        ws="none",
        # Longer than clients keep a connection (httpx 5 s, proxies 60 s): otherwise a request may meet a closing
        # one.
        timeout_keep_alive=settings.keep_alive_s,
        timeout_graceful_shutdown=settings.shutdown_s,
    )


def settings_of(process: str, parent: int | None = None) -> Settings:
    """Return the settings of a process, with its logs and traces set up; it ends with its parent.

    Raises:
        InvalidSettings: a variable is invalid.
    """
    settings = read_settings()
    configure_logs(settings)
    configure_traces(settings, process)
    if parent is None:
        for sentence in unknown_settings():
            _log.warning(sentence)
        if removed := remove_leftovers():
            _log.info("temporary folders of ended processes are removed", folders=len(removed))
    else:  # the parent has the same variables, and has reported them
        end_with(parent)
    return settings


def check_port_is_free(host: str, port: int) -> None:
    """Check that nothing listens at an address, before other processes are started.

    Raises:
        InvalidSettings: something does, or the address is none of this machine.
    """
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        with socket.socket(family, kind, protocol) as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise InvalidSettings(
                f"port {port} of {host} is taken: another service may run there; stop it, or choose a free port with "
                "--port or XETUNE_PORT"
            ) from error
        raise InvalidSettings(
            f"cannot listen on {host}, port {port}: {error.strerror}; give --host and --port"
        ) from error


class Server(uvicorn.Server):
    """Forwards the signal that ends it at once, so that requests and jobs have the same time to end.

    Calls `when_ready` with its address once it listens: the first request after that is not refused.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        beside: Sequence[Supervisor],
        within_s: float,
        when_ready: Callable[[str, int], None],
    ) -> None:
        super().__init__(config)
        self._beside, self._within_s, self._when_ready = beside, within_s, when_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        if self.started:
            self._when_ready(self.config.host, self.servers[0].sockets[0].getsockname()[1])

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop the processes beside this server, then the server."""
        end_within(self._within_s)
        for each in self._beside:
            each.ask()
        super().handle_exit(sig, frame)


@contextmanager
def running(supervisors: Sequence[Supervisor]) -> Generator[None]:
    """Run processes beside the server until the block ends."""
    # The server re-raises SIGTERM after its shutdown; by default that would end us before the worker is stopped.
    signal.signal(signal.SIGTERM, _exit)
    for each in supervisors:
        each.start()
    try:
        yield
    finally:
        with ThreadPoolExecutor(max(len(supervisors), 1)) as pool:
            list(pool.map(Supervisor.stop, supervisors))


def _exit(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)
