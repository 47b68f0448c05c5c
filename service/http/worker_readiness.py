"""Liveness and readiness of a worker, which serves nothing else, over HTTP."""

import json
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from hal.probe.findings import Finding
from service.settings import InvalidSettings
from service.telemetry.loggers import Logger

Faults = Callable[[], Iterable[Finding]]
_POLL_S = 0.05  # until it notices that it is to stop
_log = Logger(__name__)


@contextmanager
def answering(host: str, port: int | None, faults: Faults) -> Generator[int | None]:
    """Answer GET /healthz and /readyz from a thread while the block runs; yields the port, None without one.

    /readyz has status 503 and the faults if there are any, else 200.

    Raises:
        InvalidSettings: the address cannot be listened on.
    """
    if port is None:
        yield None
        return
    try:
        server = ThreadingHTTPServer((host, port), _handler(faults))
    except OSError as error:
        raise InvalidSettings(
            f"cannot start: nothing can listen on {host}:{port}, {error.strerror}; change XETUNE_WORKER_PORT"
        ) from error
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(_POLL_S,), name="worker readiness", daemon=True)
    thread.start()
    _log.info("worker answers", host=host, port=server.server_port)
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(faults: Faults) -> type[BaseHTTPRequestHandler]:
    one_at_a_time = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/healthz":
                self._answer(HTTPStatus.OK, {"status": "ok"})
            elif self.path == "/readyz":
                with one_at_a_time:
                    found = [asdict(finding) for finding in faults()]
                status = HTTPStatus.SERVICE_UNAVAILABLE if found else HTTPStatus.OK
                self._answer(status, {"status": "unready" if found else "ready", "findings": found})
            else:
                self._answer(HTTPStatus.NOT_FOUND, {"detail": "a worker answers /healthz and /readyz"})

        def _answer(self, status: HTTPStatus, document: object) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: probes repeat every few seconds."""

    return Handler
