"""The server sends a short response in one piece, parts of a long one as they come, and nothing after the end."""

import asyncio
from collections.abc import AsyncGenerator, Callable

import pytest
import uvicorn
from fastapi.responses import Response, StreamingResponse
from starlette.types import ASGIApp
from uvicorn.server import ServerState

from service.http.server_protocol import JoiningTransport, ServerProtocol

REQUEST = b"GET / HTTP/1.1\r\nHost: here\r\n%s\r\n"


class Wire(asyncio.Transport):
    """A transport that keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.closed
        self.sent.append(bytes(data))

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        """Nothing is received."""

    resume_reading = pause_reading


def exchange(app: ASGIApp, request: bytes, until: Callable[[Wire], bool]) -> Wire:
    """Return what the app sent in response to a request."""

    async def serve() -> Wire:
        wire = Wire()
        protocol = ServerProtocol(uvicorn.Config(app, log_config=None, ws="none"), ServerState(), {})
        protocol.connection_made(wire)
        protocol.data_received(request)
        async with asyncio.timeout(5):
            while not until(wire):
                await asyncio.sleep(0)
        protocol.connection_lost(None)
        return wire

    return asyncio.run(serve())


def test_head_and_body_are_one_write() -> None:
    wire = exchange(Response(b"five!", media_type="text/plain"), REQUEST % b"", lambda wire: bool(wire.sent))
    (sent,) = wire.sent
    head, _, body = sent.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"content-length: 5" in head
    assert body == b"five!"


def test_all_is_sent_before_the_connection_closes() -> None:
    wire = exchange(Response(b"last"), REQUEST % b"Connection: close\r\n", lambda wire: wire.closed)
    assert b"".join(wire.sent).endswith(b"last")


def test_a_part_of_a_stream_does_not_wait_for_the_next() -> None:
    seen = asyncio.Event()

    async def parts() -> AsyncGenerator[bytes]:
        yield b"first"
        await seen.wait()
        yield b"second"

    def came(wire: Wire) -> bool:
        if any(b"first" in data for data in wire.sent):
            seen.set()
        return any(b"second" in data for data in wire.sent)

    exchange(StreamingResponse(parts()), REQUEST % b"", came)


@pytest.fixture
def wire() -> Wire:
    return Wire()


def test_a_sender_that_never_waits_writes_to_the_connection_at_last(wire: Wire) -> None:
    async def write() -> None:
        joined = JoiningTransport(wire, asyncio.get_running_loop())
        for _ in range(9):
            joined.write(bytes(8_000))
        assert [len(data) for data in wire.sent] == [72_000]
        joined.write(b"rest")
        joined.write(b"")
        assert len(wire.sent) == 1
        await asyncio.sleep(0)
        assert wire.sent[1:] == [b"rest"]

    asyncio.run(write())


def test_nothing_is_written_to_a_connection_that_the_client_closed(wire: Wire) -> None:
    async def write() -> None:
        JoiningTransport(wire, asyncio.get_running_loop()).write(b"late")
        wire.close()
        await asyncio.sleep(0)

    asyncio.run(write())
    assert wire.sent == []
