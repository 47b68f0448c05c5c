"""Connections to a service: requests with retries, downloads that resume, events of a job."""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import anyio
import httpx

from xetune_client import models
from xetune_client.errors import Damaged, NotReached, TookTooLong
from xetune_client.event_stream import EventReader
from xetune_client.events import JobEvent, Seen, is_over
from xetune_client.fetched import Fetched
from xetune_client.retrying import RETRIED, gave_up
from xetune_client.server import Server, check_open
from xetune_client.wire import EVENTS, Answer, Lost, Request, part, query_of, read, refusal

_PAGE = 1000
_FIRST_WAIT_S, _LONGEST_WAIT_S, _GROWTH = 0.1, 2.0, 1.5


class AsyncConnection:
    """Connections to one service."""

    def __init__(self, server: Server, transport: httpx.AsyncBaseTransport | None) -> None:
        self._retries = server.retries
        self._http = httpx.AsyncClient(transport=transport, **server.settings())  # pyright: ignore[reportArgumentType]

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def send(self, request: Request, *, deletes: bool = False, in_parts: bool = False) -> Answer:
        """Send a request, with retries, and return the answer.

        With `deletes`, 404 after a lost answer means success. With `in_parts`, a partial body is an answer,
        and so is 416.

        Raises:
            Refused: the service refused the request.
            NotReached: no attempt was answered.
        """
        repetition, was_lost = 0, False
        while True:
            outcome = await self._attempt(request)
            if isinstance(outcome, Answer) and (outcome.is_whole or in_parts):
                if outcome.status < 400 or (outcome.status == 416 and in_parts):
                    return outcome
                if outcome.status == 404 and deletes and was_lost:
                    return Answer(204, outcome.headers)
                if outcome.status not in RETRIED:
                    raise refusal(outcome)
            else:
                was_lost = True
            repetition += 1
            pause_s = self._retries.pause_after(outcome, repetition)
            if pause_s is None:
                raise gave_up(request, outcome, repetition)
            await anyio.sleep(pause_s)

    async def download(self, sha256: str, fetched: Fetched) -> bytes:
        """Return the artifact of that hash; bytes in `fetched` are not requested again.

        Raises:
            Damaged: the hash differs.
            Refused, NotReached: as for `send`.
        """
        failures = 0
        while True:
            begun = len(fetched.data)
            if fetched.take(await self.send(fetched.request(sha256), in_parts=True)):
                break
            failures = 0 if len(fetched.data) > begun else failures + 1
            if failures >= self._retries.attempts:
                raise NotReached(f"artifact {sha256}: the connection was lost {failures} times after {begun} bytes")
            await anyio.sleep(self._retries.pause_s(failures + 1))
        data = bytes(fetched.data)
        if (got := hashlib.sha256(data).hexdigest()) != sha256:
            fetched.data.clear()
            raise Damaged(f"artifact {sha256}: {len(data)} bytes came whose SHA-256 is {got}; ask again")
        return data

    async def wait(self, job_id: UUID, timeout_s: float | None) -> models.JobOut:
        """Return the job when it is over, polling less often the longer it takes.

        Raises:
            TookTooLong: it is not over after `timeout_s` seconds.
        """
        until, pause_s = None if timeout_s is None else time.monotonic() + timeout_s, _FIRST_WAIT_S
        while True:
            job = read(await self.send(Request("GET", f"/v1/jobs/{part(job_id)}")), models.JobOut)
            if is_over(job):
                return job
            left_s = pause_s if until is None else until - time.monotonic()
            if left_s <= 0:
                done = f"{job.done} of {job.budget.trials} trials"
                raise TookTooLong(f"job {job_id} is {job.status.value} after {timeout_s:g} s: {done}")
            await anyio.sleep(min(pause_s, left_s))
            pause_s = min(pause_s * _GROWTH, _LONGEST_WAIT_S)

    async def follow(self, job_id: UUID, after: int, poll_s: float, *, stream: bool) -> AsyncIterator[JobEvent]:
        """Yield the events of a job: trials numbered above `after`, and the job after each change.

        A stream that breaks resumes with Last-Event-ID. Without streams (a proxy that buffers them, no free
        slot in the service) it polls and yields the same.

        Raises:
            Refused: there is no such job, or the key may not read it.
            NotReached: the service no longer answers.
        """
        seen = Seen(job_id, after)
        while stream and not seen.is_over:
            async with self._opened(seen.stream_request()) as (head, pieces):
                if isinstance(head, Answer) and head.status >= 400 and head.status not in RETRIED:
                    raise refusal(await _whole(head, pieces))
                if isinstance(head, Answer) and head.status == 200 and head.media_type == EVENTS:
                    reader = EventReader()
                    async for piece in _until_lost(pieces):
                        for event in reader.feed(piece):
                            for news in seen.of_stream(event):
                                yield news
            pause_s = seen.pause_s(head, self._retries, poll_s)
            if pause_s is None:
                break
            await anyio.sleep(pause_s)
        while not seen.is_over:
            news = await self._poll(seen)
            for each in news:
                yield each
            if not news:
                await anyio.sleep(poll_s)

    async def _poll(self, seen: Seen) -> list[JobEvent]:
        """Return what is new. The job is read before its trials: if it is over, every trial has been stored."""
        job = read(await self.send(Request("GET", seen.path)), models.JobOut)
        news: list[JobEvent] = []
        after: int | None = seen.after
        while after is not None:
            query = query_of({"after": after, "limit": _PAGE})
            page = read(await self.send(Request("GET", f"{seen.path}/trials", query)), models.TrialPage)
            after = page.next_after
            for trial in page.trials:
                if trial.ended_at is None and not is_over(job):
                    after = None  # later trials wait: an event's number must not be skipped
                    break
                if trial.ended_at is not None:
                    news += seen.of_trial(trial)
        return [*news, *seen.of_job(job)]

    async def _attempt(self, request: Request) -> Answer | Lost:
        async with self._opened(request) as (head, pieces):
            return head if isinstance(head, Lost) else await _whole(head, pieces)

    @asynccontextmanager
    async def _opened(self, request: Request) -> AsyncGenerator[tuple[Answer | Lost, AsyncIterator[bytes]]]:
        """Send a request once; yield the head of the answer, and its body in chunks."""
        check_open(self._http)
        built = self._http.build_request(
            request.method,
            request.path,
            params=request.query or None,
            headers=dict(request.headers),
            content=request.body,
        )
        try:
            response = await self._http.send(built, stream=True)
        except httpx.RequestError as error:
            yield Lost(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__), _nothing()
            return
        try:
            headers = {name.lower(): value for name, value in response.headers.items()}
            yield Answer(response.status_code, headers), response.aiter_bytes()
        finally:
            await response.aclose()


async def _whole(head: Answer, pieces: AsyncIterator[bytes]) -> Answer:
    body = bytearray()
    try:
        async for piece in pieces:
            body += piece
    except httpx.RequestError:
        return Answer(head.status, head.headers, bytes(body), is_whole=False)
    return Answer(head.status, head.headers, bytes(body))


async def _until_lost(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    try:
        async for piece in pieces:
            yield piece
    except httpx.RequestError:
        return


async def _nothing() -> AsyncIterator[bytes]:
    for piece in ():
        yield piece
