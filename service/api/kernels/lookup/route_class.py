"""Route class of lookups: a request that was answered before gets the same bytes again.

A cached answer takes no thread, no transaction and no validation; all other requests go to the route's
function.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec
from fastapi import Request, Response
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from service.api.kernels.lookup.answer_cache import Question
from service.api.kernels.lookup.answering import note_lookups
from service.api.kernels.lookup.answers import Key
from service.api.kernels.lookup.batch import render
from service.api.kernels.lookup.batch_schemas import (
    MOST,
    Form,
)
from service.api.keys.guard import GuardedRoute
from service.http.deps import context_of

_LONGEST = 2_000  # bytes of a request that is cached


class _BatchText(msgspec.Struct, forbid_unknown_fields=True):
    """A batch whose problems are not parsed."""

    problems: list[msgspec.Raw]
    device: str | list[str] = "auto"
    target: str | None = None
    form: Literal["whole", "columns"] = "whole"
    tune: Literal["never"] = "never"


_decode = msgspec.json.Decoder(_BatchText).decode


class _Asked(NamedTuple):
    """The lookups of a request, each as raw bytes; `form` is that of a batch."""

    questions: Sequence[Question]
    form: Form | None = None


class LookupRoute(GuardedRoute):
    """A route whose function leaves the keys of its answers in `request.state.lookups`."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that passes the checks from the cache, or call the function and cache its request."""
        if self.methods is not None and scope["method"] not in self.methods:
            await super().handle(scope, receive, send)
            return
        request = Request(scope, receive)
        context, state = context_of(request), scope["state"]
        await self.check(request, context)
        body = None if self.body_field is None else await _body_of(request)
        asked, listing = self._asked(scope["query_string"], body), context.devices.all_at_hand()
        if asked is not None and listing is not None:
            fresh = state.get("fresh", False) or await context.freshness.wait()  # the guard may have asked
            found = context.answers.asked(asked.questions, listing) if fresh else None
            if found is not None and (asked.form is not None or found[0].source is not None):
                note_lookups(context, found)
                context.metrics.requests.note_answers(kept=len(found), worked_out=0)
                told = found[0].body if asked.form is None else render(found, asked.form)
                await Response(told, media_type="application/json")(scope, receive, send)
                return
        await super().handle(scope, receive if body is None else _again(body, receive), send)
        keys: Sequence[Key] | None = state.get("lookups")
        if asked is not None and listing is not None and keys is not None and len(keys) == len(asked.questions):
            context.answers.remember(asked.questions, keys, listing)

    def _asked(self, query: bytes, body: bytes | None) -> _Asked | None:
        if self.body_field is None:
            return _Asked([(self.path, query)]) if len(query) <= _LONGEST else None
        if query or body is None:
            return None
        return _of_batch(body) if self.path.endswith("/batch") else _of_body(self.path, body)


async def _body_of(request: Request) -> bytes | None:
    """Return the body; None if the client went away."""
    try:
        return await request.body()
    except ClientDisconnect:
        return None


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that begins with a body that was received."""
    received: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return received.pop() if received else await receive()

    return receive_again


def _of_body(path: str, body: bytes) -> _Asked | None:
    return _Asked([(path, body)]) if len(body) <= _LONGEST else None


def _of_batch(body: bytes) -> _Asked | None:
    try:
        batch = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None  # the route says what is wrong
    problems, devices = batch.problems, batch.device
    if isinstance(devices, str):
        devices = [devices] * len(problems)
    texts = [bytes(problem) for problem in problems]
    if not 0 < len(texts) == len(devices) <= MOST or max(map(len, [*texts, *devices, batch.target or ""])) > _LONGEST:
        return None
    questions = [(device, batch.target, text) for device, text in zip(devices, texts, strict=True)]
    return _Asked(questions, Form(batch.form))
