"""First middleware of every request: refusals that need no route, and common headers of every response."""

import logging
import re
import secrets
from contextlib import nullcontext
from dataclasses import dataclass
from http import HTTPStatus

import anyio
import structlog
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bound_contextvars

from service.errors import BadRequest, Forbidden, ServiceError, TooLarge
from service.http.problem_json import (
    answer,
    render_fault,
)
from service.settings import PREFIX, Settings

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
_SECURITY = {name.lower().encode("latin-1"): value.encode("latin-1") for name, value in SECURITY_HEADERS.items()}
_threshold = logging.getLogger(__name__)  # checked first: most lookups need no line
_log = structlog.stdlib.get_logger(__name__)
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_FAILED = 500
# Kinds of bodies that go to a file, with separate limits.
_UPLOADS = {("POST", "/v1/imports"): "import", ("POST", "/v1/xray"): "xray", ("POST", "/xray"): "xray"}
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")  # no other is logged


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
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._origins = app, frozenset(settings.cors)
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

        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id

        begun = False

        async def send_with_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                _note(scope, int(message["status"]))  # a route may set a named one
                sent = message.get("headers", ())
                missing = _SECURITY.keys() - {name for name, _ in sent}
                own = [(name, value) for name, value in _SECURITY.items() if name in missing]
                message["headers"] = [*sent, (b"x-request-id", request_id.encode()), *own]
            await send(message)

        upload = _UPLOADS.get((scope["method"], scope["path"]))
        limits = self._bodies if upload is None else self._uploads[upload]
        refusal = self._refusal(scope["method"], Headers(scope=scope), limits)
        app = self._app if refusal is None else answer(Request(scope), refusal)
        with bound_contextvars(request_id=request_id):
            try:
                await app(scope, _limited(receive, limits), send_with_headers)
            except Exception as error:  # ends this request, not the service
                _log.exception("fault of this program", method=scope["method"], path=scope["path"])
                if begun:
                    raise  # the server closes the connection: a partial response must not look complete
                await render_fault(Request(scope), error)(scope, receive, send_with_headers)

    def _refusal(self, method: str, headers: Headers, limits: _Limits) -> ServiceError | None:
        if "*" not in self._allowed_hosts and _host(headers) not in self._allowed_hosts:
            # DNS rebinding: a page whose host name resolves to this address would be of the same origin.
            message = f"this service is not known as {headers.get('host', '')!r}; XETUNE_ALLOWED_HOSTS lists its names"
            return BadRequest(message, rule="host")
        if method not in _SAFE_METHODS and _from_elsewhere(headers) and headers.get("origin") not in self._origins:
            return Forbidden("a page of another site may not change anything here", rule="csrf")
        length = headers.get("content-length", "")
        if length.isascii() and length.isdecimal() and (len(length) > 18 or int(length) > limits.most_bytes):
            return TooLarge(limits.too_large(length), rule="body-bytes")
        return None


def _limited(receive: Receive, limits: _Limits) -> Receive:
    """Limit the size and the time of a body while it is received, also without a stated length."""
    total, coming, deadline = 0, True, anyio.current_time() + limits.most_s

    async def receive_within_limit() -> Message:
        nonlocal total, coming
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


def _note(scope: Scope, status: int) -> None:
    """Log a request that may have changed something or that failed; others at debug level. Never its query."""
    severe = logging.INFO if scope["method"] not in _SAFE_METHODS or status >= _FAILED else logging.DEBUG
    if _threshold.isEnabledFor(severe):
        _log.log(severe, "request", method=scope["method"], path=scope["path"], status=status)


def _from_elsewhere(headers: Headers) -> bool:
    """Return whether a browser states that the request is cross-site: by either header, since older ones send
    one.
    """
    host, origin = headers.get("host", "").lower(), headers.get("origin")
    other = origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}")
    return other or headers.get("sec-fetch-site") in ("cross-site", "same-site")


def _host(headers: Headers) -> str | None:
    spelled = re.fullmatch(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::\d{1,5})?", headers.get("host", "").lower())
    return None if spelled is None else spelled[1]
