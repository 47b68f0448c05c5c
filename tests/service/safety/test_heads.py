"""A connection whose request's head never ends, or never begins, is closed; one that works is not."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from service.cli.operating.serve import config_of
from service.http.limits.heads import (
    MOST_BYTES,
    BoundedHeads,
    bounded_heads,
)
from service.settings import Settings

WITHIN_S = 30.0
WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter, BoundedHeads]


@asynccontextmanager
async def connected(head_s: float = WITHIN_S, answers: asyncio.Event | None = None) -> AsyncGenerator[Streams]:
    """A connection to a server of that bound, which waits with its answers; and what the server makes of it."""
    protocols = asyncio.Queue[BoundedHeads]()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["more_body"]:
            pass
        if answers is not None:
            await answers.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    config = uvicorn.Config(app, lifespan="off", ws="none", log_config=None)
    kind: Any = bounded_heads(head_s)

    def made() -> Any:
        protocols.put_nowait(protocol := kind(config=config, server_state=ServerState(), app_state={}))
        return protocol

    server = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    try:
        yield reader, writer, await protocols.get()
    finally:
        writer.close()
        server.close()


def within(act: Callable[[], Awaitable[None]]) -> None:
    """Run it to its end."""
    asyncio.run(asyncio.wait_for(act(), WITHIN_S))  # pyright: ignore[reportArgumentType]


async def until(happens: Callable[[], bool]) -> None:
    """Let the server work until something is so."""
    while not happens():
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("begin", [b"", b"GE", b"GET / HTTP/1.1\r\nHost: x\r\nX: "])
def test_a_head_that_does_not_end_is_refused(begin: bytes) -> None:
    async def act() -> None:
        async with connected(0.1) as (reader, writer, _):
            writer.write(begin)
            assert (await reader.read()).startswith(b"HTTP/1.1 408 ")

    within(act)


def test_so_is_one_after_another_request() -> None:
    async def act() -> None:
        async with connected() as (reader, writer, protocol):
            for _ in range(2):
                writer.write(WHOLE)
                assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 ")
                assert protocol._deadline is None  # a connection that rests is the server's to close, later
            writer.write(WHOLE[:-2])
            await until(lambda: protocol._deadline is not None)
            protocol._too_late()
            assert (await reader.read()).startswith(b"HTTP/1.1 408 ")

    within(act)


def test_an_answer_that_takes_longer_is_not_cut_off() -> None:
    async def act() -> None:
        async with connected(answers=(answers := asyncio.Event())) as (reader, writer, protocol):
            writer.write(WHOLE + WHOLE[:-2])  # the next is begun before the first is answered
            await until(lambda: protocol.cycle is not None and protocol._deadline is not None)
            protocol._too_late()
            answers.set()
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 ")
            await until(lambda: protocol.cycle.response_complete)
            protocol._too_late()
            assert (await reader.read()).startswith(b"HTTP/1.1 408 ")

    within(act)


LONG = WHOLE[:-2] + b"X: " + b"y" * (MOST_BYTES + 1)


@pytest.mark.parametrize("begin", [LONG, LONG + b"\r\n\r\n", b"GET /" + b"y" * MOST_BYTES + b" HTTP/1.1\r\n\r\n"])
@pytest.mark.parametrize("parts", [1, 2])
def test_a_head_that_is_too_long_is_refused(begin: bytes, parts: int) -> None:
    async def act() -> None:
        async with connected() as (reader, _, protocol):
            for part in range(parts):  # as they would arrive in so many reads
                protocol.data_received(begin[part * len(begin) // parts : (part + 1) * len(begin) // parts])
            assert (await reader.read()).startswith(b"HTTP/1.1 431 ")

    within(act)


def test_it_is_refused_after_the_answers_to_those_before_it() -> None:
    async def act() -> None:
        async with connected(answers=(answers := asyncio.Event())) as (reader, _, protocol):
            protocol.data_received(WHOLE + WHOLE + LONG + b"\r\n\r\n" + WHOLE)
            answers.set()
            told = await reader.read()
            assert [line for line in told.split(b"\r\n") if b"HTTP/1.1 " in line] == [
                b"HTTP/1.1 200 OK",
                b"okHTTP/1.1 200 OK",
                b"okHTTP/1.1 431 Request Header Fields Too Large",
            ]

    within(act)


def test_the_body_before_a_head_is_not_counted_as_its() -> None:
    async def act() -> None:
        async with connected() as (reader, _, protocol):
            length = 2 * MOST_BYTES
            protocol.data_received(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % length)
            protocol.data_received(b"y" * length + WHOLE[:-2])
            protocol.data_received(WHOLE[-2:])
            for _ in range(2):
                assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 ")

    within(act)


def test_the_service_is_served_so(settings: Settings) -> None:
    assert config_of(settings.model_copy(update={"max_head_s": 7.0})).http.head_s == 7.0  # pyright: ignore
