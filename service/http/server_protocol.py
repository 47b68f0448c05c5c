"""Protocol of the HTTP server that sends the head and the body of a response in one piece."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_MOST_BYTES = 65_536  # that wait; a sender that never waits must notice that its client does not read


class JoiningTransport(asyncio.Transport):
    """Transport that joins what is written in one step of the event loop.

    The server writes the head and the body of a response separately: two system calls, and often two packets and two
    wakeups of the client.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport, self._loop = transport, loop
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send the data with all else that is written before the event loop goes on."""
        if not data:
            return
        if not self._waiting:
            self._loop.call_soon(self._flush)
        self._waiting.append(bytes(data))
        self._waiting_bytes += len(data)
        if self._waiting_bytes > _MOST_BYTES:
            self._flush()

    def _flush(self) -> None:
        data, self._waiting, self._waiting_bytes = b"".join(self._waiting), [], 0
        if data and not self._transport.is_closing():  # the client may have gone
            self._transport.write(data)

    def close(self) -> None:
        """Close the connection when all data is sent."""
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        """Close the connection at once."""
        self._transport.abort()

    def is_closing(self) -> bool:
        """Return whether the connection is closed or being closed."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: object = None) -> object:
        """Return a fact of the connection."""
        return self._transport.get_extra_info(name, default)

    def pause_reading(self) -> None:
        """Stop receiving."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Receive again."""
        self._transport.resume_reading()


class ServerProtocol(HttpToolsProtocol):
    """HTTP/1.1 over a JoiningTransport."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to serve a connection."""
        super().connection_made(JoiningTransport(transport, self.loop))
