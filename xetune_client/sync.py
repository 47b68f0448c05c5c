"""Holds conversations over blocking connections."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TypeVar

import httpx

from xetune_client.connecting import Server, check_open, head_of, lost, to_httpx
from xetune_client.steps import Conversation, Following, More, Open, Outcome, Send, Tell, Wait
from xetune_client.wire import Answer, Lost, Request

T = TypeVar("T")
E = TypeVar("E")


class Line:
    """A connection to a service. Thread-safe, but for what `follow` returns."""

    def __init__(self, server: Server, transport: httpx.BaseTransport | None) -> None:
        self._client = httpx.Client(transport=transport, **server.settings())  # pyright: ignore[reportArgumentType]

    def close(self) -> None:
        """Let the connections go."""
        self._client.close()

    def hold(self, conversation: Conversation[T]) -> T:
        """Hold a conversation to its end."""
        outcome: Outcome = None
        while True:
            try:
                step = conversation.send(outcome)
            except StopIteration as end:
                return end.value
            outcome = self._do(step)

    def follow(self, conversation: Following[E]) -> Iterator[E]:
        """What a conversation tells on the way."""
        outcome: Outcome = None
        with ExitStack() as opened:
            pieces: Iterator[bytes] = iter(())
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
                        opened.close()
                        outcome, pieces = self._open(request, opened)
                        if isinstance(outcome, Answer) and outcome.status >= 400:
                            outcome = _whole(outcome, pieces)
                    case More():
                        outcome = _piece(pieces)
                    case _:
                        outcome = self._do(step)

    def _do(self, step: Send | Wait) -> Outcome:
        if isinstance(step, Wait):
            time.sleep(step.seconds)
            return None
        with ExitStack() as opened:
            head, pieces = self._open(step.request, opened)
            return head if isinstance(head, Lost) else _whole(head, pieces)

    def _open(self, request: Request, opened: ExitStack) -> tuple[Answer | Lost, Iterator[bytes]]:
        check_open(self._client)
        try:
            response = self._client.send(to_httpx(self._client, request), stream=True)
        except httpx.RequestError as error:
            return lost(error), iter(())
        opened.callback(response.close)
        return head_of(response), response.iter_bytes()


def _piece(pieces: Iterator[bytes]) -> bytes | Lost:
    try:
        return next(pieces, b"")
    except httpx.RequestError as error:
        return lost(error)


def _whole(head: Answer, pieces: Iterator[bytes]) -> Answer:
    body = bytearray()
    try:
        for piece in pieces:
            body += piece
    except httpx.RequestError:
        return Answer(head.status, head.headers, bytes(body), is_whole=False)
    return Answer(head.status, head.headers, bytes(body))
