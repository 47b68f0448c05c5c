"""Lets the client talk to the service within this process."""

import httpx
import httpx2


class Passed(httpx.BaseTransport):
    """Hands requests to the service's test client, whose library is another one of the same interface."""

    def __init__(self, inner: object) -> None:
        self._inner = inner

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        asked = httpx2.Request(request.method, str(request.url), headers=request.headers.raw, content=request.read())
        got = self._inner.handle_request(asked)  # pyright: ignore[reportAttributeAccessIssue]
        return httpx.Response(got.status_code, headers=got.headers.raw, content=got.read())
