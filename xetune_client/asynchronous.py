"""Holds conversations over connections of an event loop, by asyncio or trio."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import TypeVar

import anyio
import httpx

from xetune_client.connecting import Server, check_open, head_of, lost, to_httpx
from xetune_client.steps import Conversation, Following, More, Open, Outcome, Send, Tell, Wait
from xetune_client.wire import Answer, Lost, Request

T = TypeVar("T")
E = TypeVar("E")


class Line:
    """A connection to a service. Of one event loop."""

    def __init__(self, server: Server, transport: httpx.AsyncBaseTransport | None) -> None:
        self._client = httpx.AsyncClient(transport=transport, **server.settings())  # pyright: ignore[reportArgumentType]

    async def close(self) -> None:
        """Let the connections go."""
        await self._client.aclose()

    async def hold(self, conversation: Conversation[T]) -> T:
        """Hold a conversation to its end."""
        outcome: Outcome = None
        while True:
            try:
                step = conversation.send(outcome)
            except StopIteration as end:
                return end.value
            outcome = await self._do(step)

    async def follow(self, conversation: Following[E]) -> AsyncIterator[E]:
        """What a conversation tells on the way."""
        outcome: Outcome = None
        async with AsyncExitStack() as opened:
            pieces: AsyncIterator[bytes] = _none()
            while True:
                try:
                    step = conversation.send(outcome)
                except StopIteration:
                    return
                outcome = None
                match step:
                    case Tell(value):
                        yield value
                    case Open(request):
                        await opened.aclose()
                        outcome, pieces = await self._open(request, opened)
                        if isinstance(outcome, Answer) and outcome.status >= 400:
                            outcome = await _whole(outcome, pieces)
                    case More():
                        outcome = await _piece(pieces)
                    case _:
                        outcome = await self._do(step)

    async def _do(self, step: Send | Wait) -> Outcome:
        if isinstance(step, Wait):
            await anyio.sleep(step.seconds)
            return None
        async with AsyncExitStack() as opened:
            head, pieces = await self._open(step.request, opened)
            return head if isinstance(head, Lost) else await _whole(head, pieces)

    async def _open(self, request: Request, opened: AsyncExitStack) -> tuple[Answer | Lost, AsyncIterator[bytes]]:
        check_open(self._client)
        try:
            response = await self._client.send(to_httpx(self._client, request), stream=True)
        except httpx.RequestError as error:
            return lost(error), _none()
        opened.push_async_callback(response.aclose)
        return head_of(response), response.aiter_bytes()


async def _piece(pieces: AsyncIterator[bytes]) -> bytes | Lost:
    try:
        return await anext(pieces, b"")
    except httpx.RequestError as error:
        return lost(error)


async def _whole(head: Answer, pieces: AsyncIterator[bytes]) -> Answer:
    body = bytearray()
    try:
        async for piece in pieces:
            body += piece
    except httpx.RequestError:
        return Answer(head.status, head.headers, bytes(body), is_whole=False)
    return Answer(head.status, head.headers, bytes(body))


async def _none() -> AsyncIterator[bytes]:
    for piece in ():
        yield piece
