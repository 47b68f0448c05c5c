"""Headers that every answer carries, and the refusal of requests that other web sites make a browser send."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.errors import Forbidden
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


class SecurityHeaders:
    """ASGI middleware: adds the headers; a cross-site request that would change something is refused."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

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

        app = self._app
        cross_site = Headers(scope=scope).get("sec-fetch-site") in ("cross-site", "same-site")
        if cross_site and scope["method"] not in _SAFE_METHODS:
            app = render(Request(scope), Forbidden("a page of another site may not change anything here"))
        await app(scope, receive, send_with_headers)
