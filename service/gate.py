"""What every request passes first: refusals that need no route, and the headers that every answer carries."""

from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.errors import Forbidden, ServiceError, TooLarge
from service.problems import render

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


class Gate:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, max_body_bytes: int) -> None:
        self._app, self._max_body_bytes = app, max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        app = self._app if refusal is None else render(Request(scope), refusal)
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
        if method not in _SAFE_METHODS and headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return Forbidden("a page of another site may not change anything here")
        length = headers.get("content-length", "")
        if length.isascii() and length.isdecimal() and (len(length) > 18 or int(length) > self._max_body_bytes):
            return TooLarge(f"the request body has {length} bytes; this service accepts {self._max_body_bytes}")
        return None
