"""The head of a request arrives in time and is not too long, or its connection is closed: the server bounds neither."""

import asyncio
from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MOST_BYTES = 64 * 1024  # of the line and all fields, cookies among them


class BoundedHeads(HttpToolsProtocol):
    """A connection to the server. `head_s` is how long one may be silent at first, and how long a head may take.

    Between requests it is kept as long as the server says.
    """

    head_s: float

    _deadline: asyncio.TimerHandle | None = None
    _nbytes = 0
    _is_head_alone = False  # all that the present read brought so far
    _refused: HTTPStatus | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        """Count what came of a head that is not whole."""
        if self._refused is not None:
            return
        self._is_head_alone = True
        super().data_received(data)
        if self._deadline is not None and self._is_head_alone:  # what other messages ended in is not the head's
            self._nbytes += len(data)
            if self._nbytes > MOST_BYTES:
                self._refuse(HTTPStatus(431))

    def on_message_begin(self) -> None:
        """A head begins."""
        if self._refused is None:
            self._begin()
            super().on_message_begin()

    def on_headers_complete(self) -> None:
        """It is whole."""
        self._is_head_alone = False
        if self._refused is not None:
            return
        self._end()
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > MOST_BYTES:
            self._refuse(HTTPStatus(431))
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Part of a body."""
        self._is_head_alone = False
        if self._refused is None:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """A request is whole."""
        self._is_head_alone = False
        if self._refused is None:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Another answer may have waited for this one."""
        super().on_response_complete()
        if self._refused is not None and not self._is_answering():
            self._close(self._refused)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        self._end()
        self._nbytes = 0
        self._deadline = self.loop.call_later(self.head_s, self._too_late)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        if self._is_answering():  # sent ahead
            self._begin()
        else:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)

    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = getattr(self, "cycle", None)  # None before the first
        return cycle is not None and not cycle.response_complete

    def _refuse(self, status: HTTPStatus) -> None:
        """Read no more, and say so after the answers to what was sent before."""
        self._end()
        self._refused = status
        if not self._is_answering():
            self._close(status)

    def _close(self, status: HTTPStatus) -> None:
        if not self.transport.is_closing():
            line = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            self.transport.write(line.encode())
            self.transport.close()


def bounded_heads(head_s: float) -> type[BoundedHeads]:
    """Connections whose heads may take so long, in seconds."""
    return type(BoundedHeads.__name__, (BoundedHeads,), {"head_s": head_s})
