"""What every request passes first: refusals that need no route, and the headers that every answer carries."""

import re
import secrets
from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bound_contextvars

from service.errors import BadRequest, Forbidden, ServiceError, TooLarge
from service.problems import render
from service.settings import Settings

SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    ),
}
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")  # no other goes into logs


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """Names that the settings let requests address the service by."""
    own = f"[{settings.host}]" if ":" in settings.host else settings.host
    return frozenset(name.strip().lower() for name in [own, *settings.allowed_hosts.split(",")])


class Gate:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, max_body_bytes: int, allowed_hosts: frozenset[str]) -> None:
        self._app, self._max_body_bytes, self._allowed_hosts = app, max_body_bytes, allowed_hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        app = self._app if refusal is None else render(Request(scope), refusal)
        with bound_contextvars(request_id=request_id):
            await app(scope, self._limited(receive), send_with_headers)

    def _limited(self, receive: Receive) -> Receive:
        """Counts a body as it comes, for requests that state no length."""
        total = 0

        async def receive_within_limit() -> Message:
            nonlocal total
            message = await receive()
            total += len(message.get("body", b""))
            if total > self._max_body_bytes:
                # The one kind of error that the framework lets pass while it reads a body.
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return message

        return receive_within_limit

    def _refusal(self, method: str, headers: Headers) -> ServiceError | None:
        if "*" not in self._allowed_hosts and _host(headers) not in self._allowed_hosts:
            # A page whose own name was made to point here would be of the same origin.
            message = f"this service is not known as {headers.get('host', '')!r}; XETUNE_ALLOWED_HOSTS lists its names"
            return BadRequest(message, rule="host")
        if method not in _SAFE_METHODS and headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return Forbidden("a page of another site may not change anything here")
        length = headers.get("content-length", "")
        if length.isascii() and length.isdecimal() and (len(length) > 18 or int(length) > self._max_body_bytes):
            return TooLarge(f"the request body has {length} bytes; this service accepts {self._max_body_bytes}")
        return None


def _host(headers: Headers) -> str | None:
    spelled = re.fullmatch(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::\d{1,5})?", headers.get("host", "").lower())
    return None if spelled is None else spelled[1]
