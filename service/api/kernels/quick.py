"""Answers lookups that were asked before, in front of the framework: no thread, no transaction, no parsing.

It says only what the routes would say: who asks is known and may read, the rate allows it, nothing was committed since,
and the very bytes of the question were answered by a route. Everything else goes to the routes, which keep what they
find.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import msgspec
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from db.errors import DatabaseError
from service.api.kernels.answers import (
    Kept,
    Key,
)
from service.api.kernels.batch import render
from service.api.kernels.batch_schemas import (
    MOST,
    Form,
)
from service.api.keys.caller import is_passed_on
from service.errors import TooMany
from service.http.deps import Context
from service.http.problem_json import render as render_problem

_ONE, _BODY, _MANY = "/v1/kernels", "/v1/kernels/lookup", "/v1/kernels/lookup/batch"
_LONGEST = 2_000  # bytes of a question that is kept
_JSON = b"application/json"
_LOOKS = 2  # the first may have begun before the last commit


class _BatchText(msgspec.Struct, forbid_unknown_fields=True):
    """A batch whose problems are left as they were sent."""

    problems: list[msgspec.Raw]
    device: str | list[str] = "auto"
    target: str | None = None
    form: Literal["whole", "columns"] = "whole"
    tune: Literal["never"] = "never"


_decode = msgspec.json.Decoder(_BatchText).decode


@dataclass(frozen=True, slots=True)
class _Path:
    path: str


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a request asks: each question as it was sent; `form` is that of a batch."""

    questions: Sequence[tuple[object, ...]]
    form: Form | None = None


class Quick:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, context: Context) -> None:
        self._app, self._context = app, context
        self._looker = ThreadPoolExecutor(1, "freshness")
        self._looking: Future[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _is_lookup(scope) or self._caller(scope) is None:
            await self._app(scope, receive, send)
            return
        body = _Body(receive)
        asked = _of_query(scope) if scope["method"] == "GET" else _of_body(scope, await body.whole())
        context = self._context
        listing = context.devices.all_at_hand()
        if asked is None or listing is None:
            await self._app(scope, body.again, send)
            return
        # Who asks is looked up once more: news may be of keys.
        if await self._is_fresh() and (caller := self._caller(scope)) is not None:
            kept = context.answers.asked(asked.questions, listing)
            if kept is not None and (asked.form is not None or kept[0].source is not None):
                await self._answer(scope, receive, send, caller, asked, kept)
                return
        await self._app(scope, body.again, send)
        keys: Sequence[Key] | None = scope["state"].get("lookups")
        if keys is not None and len(keys) == len(asked.questions):
            context.answers.remember(asked.questions, keys, listing)

    async def _is_fresh(self) -> bool:
        """Whether what is kept may be used. After a commit one thread looks what changed, and all requests wait for it:
        each would else go the long way at once, and those behind them would wait for all of those.
        """
        freshness = self._context.freshness
        for _ in range(_LOOKS):
            if freshness.is_fresh():
                return True
            if self._looking is None or self._looking.done():
                self._looking = self._looker.submit(freshness.refresh)
            try:
                await asyncio.shield(asyncio.wrap_future(self._looking))
            except DatabaseError:
                return False  # the routes say so
        return freshness.is_fresh()

    def _caller(self, scope: Scope) -> object:
        """Whom the rate is counted for, if it is known who asks; None where the routes must find out."""
        headers = Headers(scope=scope)
        if "cookie" in headers or is_passed_on(headers):
            return None
        known = self._context.callers.find(headers.get("authorization"))
        if known is None:
            return None
        return known.key_id or (scope["client"][0] if scope.get("client") else "")

    async def _answer(
        self, scope: Scope, receive: Receive, send: Send, caller: object, asked: _Asked, kept: list[Kept]
    ) -> None:
        scope["route"] = _Path(scope["path"])
        try:
            self._context.rates.take(caller)
        except TooMany as error:
            await render_problem(Request(scope), error)(scope, receive, send)
            return
        note_lookups(self._context, kept)
        self._context.metrics.requests.note_answers(kept=len(kept), worked_out=0)
        body = kept[0].body if asked.form is None else render(kept, asked.form)
        headers = [(b"content-type", _JSON), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def note_lookups(context: Context, kept: Sequence[Kept]) -> None:
    """Count what was found."""
    for source, count in Counter(each.source for each in kept).items():
        context.metrics.requests.lookups.labels("nothing" if source is None else source.value).inc(count)


class _Body:
    """A request's body, read once and given again as it came, also the error that ended it."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._messages: list[Message] = []
        self._error: HTTPException | None = None

    async def whole(self) -> bytes | None:
        """All of it; None where it did not come."""
        parts: list[bytes] = []
        while True:
            try:
                message = await self._receive()
            except HTTPException as error:  # too long, or too slow: the framework says so
                self._error = error
                return None
            self._messages.append(message)
            if message["type"] != "http.request":
                return None
            parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                return b"".join(parts)

    async def again(self) -> Message:
        """The messages that were read, then those that follow."""
        if self._messages:
            return self._messages.pop(0)
        if self._error is not None:
            raise self._error
        return await self._receive()


def _is_lookup(scope: Scope) -> bool:
    path, method = scope["path"], scope["method"]
    if method == "GET":
        return path == _ONE
    return method == "POST" and path in (_BODY, _MANY)


def _of_query(scope: Scope) -> _Asked | None:
    query: bytes = scope["query_string"]
    return _Asked([(_ONE, query)]) if len(query) <= _LONGEST else None


def _of_body(scope: Scope, body: bytes | None) -> _Asked | None:
    if body is None or scope["query_string"] or not _says_json(scope):
        return None
    if scope["path"] == _BODY:
        return _Asked([(_BODY, body)]) if len(body) <= _LONGEST else None
    try:
        batch = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None  # the routes say what is wrong
    problems, devices = batch.problems, batch.device
    if isinstance(devices, str):
        devices = [devices] * len(problems)
    if not 0 < len(problems) == len(devices) <= MOST:
        return None
    texts = [bytes(problem) for problem in problems]
    if max(map(len, texts)) > _LONGEST:
        return None
    questions = [(device, batch.target, text) for device, text in zip(devices, texts, strict=True)]
    return _Asked(questions, Form(batch.form))


def _says_json(scope: Scope) -> bool:
    return any(name == b"content-type" and value.split(b";")[0] == _JSON for name, value in scope["headers"])
