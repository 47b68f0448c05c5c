"""A connection whose request's head never ends, or never begins, is closed; one that works is not."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from service.cli.operating.serve import config_of
from service.limits.heads import MOST_BYTES, bounded_heads
from service.settings import Settings

WITHIN_S = 30.0
WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connected(head_s: float, answers_after_s: float = 0.0) -> AsyncGenerator[Streams]:
    """A connection to a server of that bound."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(answers_after_s)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    config = uvicorn.Config(app, lifespan="off", ws="none", log_config=None)
    kind: Any = bounded_heads(head_s)
    made = lambda: kind(config=config, server_state=ServerState(), app_state={})  # noqa: E731
    server = await asyncio.get_running_loop().create_server(made, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    try:
        yield reader, writer
    finally:
        writer.close()
        server.close()


def within(act: Callable[[], Awaitable[None]]) -> None:
    """Run it to its end."""
    asyncio.run(asyncio.wait_for(act(), WITHIN_S))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("begin", [b"", b"GE", b"GET / HTTP/1.1\r\nHost: x\r\nX: "])
def test_a_head_that_does_not_end_is_refused(begin: bytes) -> None:
    async def act() -> None:
        async with connected(0.1) as (reader, writer):
            writer.write(begin)
            assert (await reader.read()).startswith(b"HTTP/1.1 408 ")

    within(act)


def test_so_is_one_after_another_request() -> None:
    async def act() -> None:
        async with connected(0.1) as (reader, writer):
            writer.write(WHOLE)
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 ")
            await asyncio.sleep(0.3)  # a connection that rests is the server's to close, later
            writer.write(WHOLE)
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 ")
            writer.write(WHOLE[:-2])
            assert (await reader.read()).startswith(b"HTTP/1.1 408 ")

    within(act)


def test_an_answer_that_takes_longer_is_not_cut_off() -> None:
    async def act() -> None:
        async with connected(0.1, answers_after_s=0.5) as (reader, writer):
            writer.write(WHOLE + WHOLE[:-2])  # the next is begun before the first is answered
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 ")
            assert (await reader.read()).startswith(b"HTTP/1.1 408 ")

    within(act)


def test_a_head_that_is_too_long_is_refused() -> None:
    async def act() -> None:
        async with connected(WITHIN_S) as (reader, writer):
            writer.write(WHOLE[:-2] + b"X: ")
            writer.write(b"y" * (MOST_BYTES + 1))
            assert (await reader.read()).startswith(b"HTTP/1.1 431 ")

    within(act)


def test_the_service_is_served_so(settings: Settings) -> None:
    assert config_of(settings.model_copy(update={"max_head_s": 7.0})).http.head_s == 7.0  # pyright: ignore
