"""First middleware of every request: refusals that need no route, common headers of every response, and metrics."""

import logging
import math
import random
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.errors import BadRequest, Forbidden, ServiceError, TooLarge
from service.http.problem_json import (
    answer,
    render_fault,
)
from service.settings import PREFIX, Settings
from service.telemetry.loggers import Logger, current_request

SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    # For responses that a browser should not render; pages and cacheable files set their own.
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
_SECURITY = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in SECURITY_HEADERS.items()]
_SECURITY_NAMES = frozenset(name for name, _ in _SECURITY)
_threshold = logging.getLogger(__name__)  # checked first: most lookups need no line
_log = Logger(__name__)
_Headers = dict[bytes, bytes]
Note = Callable[[Scope, int, float], None]
"""Counts the response to a request: its scope, status, and seconds."""
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_FAILED = 500
# Kinds of bodies that go to a file, with separate limits.
_UPLOADS = {("POST", "/v1/imports"): "import", ("POST", "/v1/xray"): "xray", ("POST", "/xray"): "xray"}
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")  # no other is logged


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """Return the host names under which the settings allow requests."""
    own = f"[{settings.host}]" if ":" in settings.host else settings.host
    return frozenset(name.strip().lower() for name in [own, *settings.allowed_hosts.split(",")])


@dataclass(frozen=True, slots=True)
class _Limits:
    """Limits on size and time of a body, with the names of their settings."""

    most_bytes: int
    most_s: float
    kind: str

    def too_large(self, length: str | None = None) -> str:
        """Return the message for a body that is too large; `length` if stated."""
        has = "is too large" if length is None else f"has {length} bytes"
        return f"the request body {has}; this service accepts {self.most_bytes} ({PREFIX}MAX_{self.kind}_BYTES)"

    def too_slow(self) -> str:
        """Return the message for a body that is too slow."""
        return f"the request body did not arrive in time ({PREFIX}MAX_{self.kind}_S); send it again"


class RequestGuard:
    """ASGI middleware.

    It leaves `request_id` and `headers`, the first header of each name, in the state of the request. `note` counts
    responses.
    """

    def __init__(self, app: ASGIApp, settings: Settings, note: Note) -> None:
        self._app, self._note, self._origins = app, note, frozenset(settings.cors)
        self._bodies = _Limits(settings.max_body_bytes, settings.max_body_s, "BODY")
        self._uploads = {
            "import": _Limits(settings.max_import_bytes, settings.max_import_s, "IMPORT"),
            "xray": _Limits(settings.max_xray_bytes, settings.max_xray_s, "XRAY"),
        }
        self._allowed_hosts = allowed_hosts(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        received_s = time.perf_counter()
        headers: _Headers = dict(reversed(scope["headers"]))
        given = headers.get(b"x-request-id", b"")
        request_id = given.decode() if _REQUEST_ID.fullmatch(given) else f"{random.getrandbits(64):016x}"
        state: dict[str, object] = scope.setdefault("state", {})
        state["request_id"], state["headers"] = request_id, headers
        begun = False

        def send_with_headers(message: Message) -> Awaitable[None]:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun, status = True, int(message["status"])  # a route may set a named one
                self._note(scope, status, time.perf_counter() - received_s)
                _log_request(scope, status)
                sent = message.get("headers", ())
                named = dict(sent)
                own = _SECURITY if _SECURITY_NAMES.isdisjoint(named) else [h for h in _SECURITY if h[0] not in named]
                message["headers"] = [*sent, (b"x-request-id", request_id.encode()), *own]
            return send(message)

        upload = _UPLOADS.get((scope["method"], scope["path"]))
        limits = self._bodies if upload is None else self._uploads[upload]
        refusal = self._refusal(scope["method"], headers, limits)
        app = self._app if refusal is None else answer(Request(scope), refusal)
        before = current_request.set(request_id)
        try:
            await app(scope, _limited(receive, limits), send_with_headers)
        except Exception as error:  # ends this request, not the service
            _log.exception("fault of this program", method=scope["method"], path=scope["path"])
            if begun:
                raise  # the server closes the connection: a partial response must not look complete
            await render_fault(Request(scope), error)(scope, receive, send_with_headers)
        finally:
            current_request.reset(before)

    def _refusal(self, method: str, headers: _Headers, limits: _Limits) -> ServiceError | None:
        host = headers.get(b"host", b"").decode("latin-1")
        if "*" not in self._allowed_hosts and _name_of(host) not in self._allowed_hosts:
            # DNS rebinding: a page whose host name resolves to this address would be of the same origin.
            message = f"this service is not known as {host!r}; XETUNE_ALLOWED_HOSTS lists its names"
            return BadRequest(message, rule="host")
        if method not in _SAFE_METHODS:
            origin = headers.get(b"origin", b"").decode("latin-1")
            if _from_elsewhere(headers, host, origin) and origin not in self._origins:
                return Forbidden("a page of another site may not change anything here", rule="csrf")
        length = headers.get(b"content-length", b"")
        if length.isdigit() and (len(length) > 18 or int(length) > limits.most_bytes):
            return TooLarge(limits.too_large(length.decode()), rule="body-bytes")
        return None


def _limited(receive: Receive, limits: _Limits) -> Receive:
    """Limit the size and the time of a body while it is received, also without a stated length."""
    total, coming, deadline = 0, True, math.nan

    async def receive_within_limit() -> Message:
        nonlocal total, coming, deadline
        if math.isnan(deadline):  # most requests have no body that is read
            deadline = anyio.current_time() + limits.most_s
        with anyio.CancelScope(deadline=deadline) if coming else nullcontext() as scope:
            message = await receive()
        if scope is not None and scope.cancelled_caught:
            raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, limits.too_slow())
        total += len(message.get("body", b""))
        coming = message.get("more_body", False)
        if total > limits.most_bytes:
            # The only type of error that the framework passes on while it reads a body.
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, limits.too_large())
        return message

    return receive_within_limit


def _log_request(scope: Scope, status: int) -> None:
    """Log a request that may have changed something or that failed; others at debug level. Never its query."""
    severe = logging.INFO if scope["method"] not in _SAFE_METHODS or status >= _FAILED else logging.DEBUG
    if _threshold.isEnabledFor(severe):
        _log.log(severe, "request", method=scope["method"], path=scope["path"], status=status)


def _from_elsewhere(headers: _Headers, host: str, origin: str) -> bool:
    """Return whether a browser states that the request is cross-site: by either header, since older ones send
    one.
    """
    other = b"origin" in headers and origin.lower() not in (f"http://{host.lower()}", f"https://{host.lower()}")
    return other or headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site")


@lru_cache(maxsize=64)
def _name_of(host: str) -> str | None:
    """Return the name in a `Host` header, without its port; None if it is malformed."""
    spelled = re.fullmatch(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::\d{1,5})?", host.lower())
    return None if spelled is None else spelled[1]
