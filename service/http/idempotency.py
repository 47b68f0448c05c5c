"""Dependency of creating routes: a repeated request gets the first response and creates nothing.

The response is stored in the transaction that creates the object, so that both or neither exist. Errors are
not stored: they created nothing, and may not recur.
"""

import hashlib
import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import Depends, FastAPI, Header, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel
from sqlalchemy.orm import Session

from service.api.keys.caller import Caller
from service.api.keys.guard import CallerDep
from service.errors import OtherRequest
from service.http.context import Context
from service.http.deps import ContextDep

if TYPE_CHECKING:
    from db.schema.idempotency import IdempotentAnswer

# Queries are imported by the methods that need them: a request that only reads needs no tables of them.

REPLAYED = "Idempotency-Replayed"
_LONGEST = 255

Answer = TypeVar("Answer", bound=BaseModel)
KeyHeader = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=_LONGEST,
        pattern=r"^[\x21-\x7e]+$",
        description="Any unique text, e.g. a UUID: a repeated request with it gets the first response, and its work "
        f"is done once; such a response has {REPLAYED}: true",
        examples=["8e03978e-40d5-43dd-bc93-6894a57f9324"],
    ),
]


class Replay(Exception):
    """Signal that the request was answered before, with this response."""

    def __init__(self, answer: "IdempotentAnswer") -> None:
        super().__init__(answer.key)
        # Read now: a row of a rolled back transaction cannot be read.
        self.status, self.location, self.body = answer.status, answer.location, answer.body


@dataclass(frozen=True, slots=True)
class Once:
    """A request that may be repeated; without a key nothing is stored. `hash` is equal for equal requests."""

    context: Context
    caller: str
    key: str | None = None
    hash: str = ""

    def check(self) -> None:
        """Check, before its transaction, that the request was not answered yet.

        Raises:
            Replay: it was.
            OtherRequest: another request with the same key was.
        """
        if self.key is not None:
            with self.context.database.read() as session:
                self._replay(session)

    @contextmanager
    def write(self) -> Generator[Session]:
        """Open the transaction that does the request's work and then calls `answer`.

        It claims the key first: of equal concurrent requests the later ones wait here.

        Raises:
            Replay: the same request was answered meanwhile.
            OtherRequest: another request with the same key was.
        """
        with self.context.database.write() as session:
            if self.key is not None and not self._claim(session, self.key):
                self._replay(session)
            yield session

    def answer(
        self,
        session: Session,
        response: Response,
        answer: Answer,
        status: HTTPStatus,
        location: str | None = None,
        kept: Answer | None = None,
    ) -> Answer:
        """Answer with a status and the path of the created object, and store that in the same transaction.

        `kept` is stored and replayed in place of an answer that contains a secret.
        """
        response.status_code = status
        if location is not None:
            response.headers["Location"] = location
        if self.key is not None:
            from db.queries.access import idempotency

            body = (kept or answer).model_dump_json()
            idempotency.complete(session, caller=self.caller, key=self.key, status=status, location=location, body=body)
        return answer

    def _claim(self, session: Session, key: str) -> bool:
        from db.queries.access import idempotency

        now = self.context.now()
        expires_at = now + timedelta(seconds=self.context.settings.idempotency_s)
        return idempotency.claim(
            session, caller=self.caller, key=key, request_hash=self.hash, now=now, expires_at=expires_at
        )

    def _replay(self, session: Session) -> None:
        from db.queries.access import idempotency

        earlier = idempotency.find(session, self.caller, self.key or "", self.context.now())
        if earlier is None:
            return
        if earlier.request_hash != self.hash:
            message = f"the idempotency key {self.key!r} came with another request before; use a new one for each"
            raise OtherRequest(message)
        raise Replay(earlier)


async def _once(request: Request, context: ContextDep, by: CallerDep, key: KeyHeader = None) -> Once:
    caller = caller_name(by)
    if key is None:
        return Once(context, caller)
    once = Once(context, caller, key, _hash(request, await request.body()))
    await run_in_threadpool(once.check)
    return once


OnceDep = Annotated[Once, Depends(_once)]


def add_replays(app: FastAPI) -> None:
    """Add the handler that replays earlier responses to the app."""

    @app.exception_handler(Replay)
    async def _again(request: Request, replay: Replay) -> Response:
        headers = {REPLAYED: "true"} | ({} if replay.location is None else {"Location": replay.location})
        return Response(replay.body, replay.status, headers, media_type="application/json")


def caller_name(by: Caller) -> str:
    """Return the namespace of a caller's keys."""
    return by.name if by.key_id is None else str(by.key_id)


def asked_of(request: Request) -> bytes:
    """Return the identity of a request without its body."""
    return f"{request.method} {request.url.path}?{request.url.query}\n".encode()


def _hash(request: Request, body: bytes) -> str:
    """Return a hash that is equal for equal requests, independent of spaces and order of their JSON."""
    try:
        meant = json.dumps(json.loads(body), sort_keys=True).encode()
    except (ValueError, RecursionError):
        meant = body
    return hashlib.sha256(asked_of(request) + meant).hexdigest()
