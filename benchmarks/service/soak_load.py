"""Clients of the soak test: their requests, and the responses."""

import asyncio
import json
import random
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from benchmarks.service.serving import Served

_TEXT = Path(__file__).resolve().parents[2] / "examples" / "gemm_prefetch.mlir"
_EXPECTED = {200, 201, 202, 204}
_ACTIVE = ("queued", "running")


@dataclass(slots=True)
class Told:
    """Outcomes of the requests."""

    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    slow: dict[str, list[float]] = field(default_factory=dict)
    rss_mb: list[tuple[float, float]] = field(default_factory=list)  # with the seconds since the start
    fault_until: float = 0.0
    fault: str = ""

    def note(self, what: str, status: int | str, seconds: float, detail: str = "") -> None:
        """Count an answer; one that no fault explains is an error."""
        self.answers[what, str(status)] += 1
        self.slow.setdefault(what, []).append(seconds)
        if status in _EXPECTED or status == 404 or status == 429:
            return
        if status == 503 and self.fault == "database" and time.monotonic() < self.fault_until:
            self.faults["503 within 15 s of an outage"] += 1
            return
        self.errors.append(f"{time.strftime('%H:%M:%S')} {what}: {status} {detail[:300]}")


class Load:
    """The clients."""

    def __init__(self, served: Served, client: httpx.AsyncClient, told: Told, seed: int, most_active: int) -> None:
        self._served, self._client, self._told = served, client, told
        self._rng = random.Random(seed)
        self._most_active = most_active
        self._active: set[str] = set()
        self.jobs: dict[str, str] = {}

    async def ask(self, what: str, method: str, path: str, **more: Any) -> httpx.Response | None:
        """One request, counted."""
        begun = time.monotonic()
        try:
            answer = await self._client.request(method, path, **more)
        except httpx.HTTPError as error:
            self._told.note(what, type(error).__name__, time.monotonic() - begun, str(error))
            return None
        self._told.note(what, answer.status_code, time.monotonic() - begun, answer.text[:300])
        return answer

    def problem(self) -> dict[str, object]:
        """One of many problems, stored or not."""
        m, n, k = (128 * self._rng.randint(1, 16) for _ in range(3))
        return {"m": m, "n": n, "k": k, "dtype_a": "f16", "dtype_b": "f16"}

    async def look_up(self) -> None:
        """A lookup."""
        device = self._rng.choice(("b580", "b570", "max1100", "auto"))
        await self.ask("lookup", "POST", "/v1/kernels/lookup", json={"problem": self.problem(), "device": device})

    async def look_up_many(self) -> None:
        """A batch."""
        body = {"problems": [self.problem() for _ in range(20)], "device": "b580"}
        await self.ask("batch of 20 lookups", "POST", "/v1/kernels/lookup/batch", json=body)

    async def list_things(self) -> None:
        """A list or a page."""
        path = self._rng.choice(("/v1/jobs", "/v1/devices", "/v1/schedules", "/v1/audit", "/", "/jobs", "/metrics"))
        await self.ask("list or page", "GET", path)

    async def tune(self) -> None:
        """A job, of which some are cancelled after a while; its events are read. None while enough are active."""
        await self.look_at_jobs()
        if len(self._active) >= self._most_active:
            return
        budget = {"trials": self._rng.randint(2, 6), "seconds": 60}
        body = {"problem": self.problem(), "device": "b580", "budget": budget, "seed": self._rng.randint(0, 9)}
        answer = await self.ask("create job", "POST", "/v1/jobs", json=body)
        if answer is None or answer.status_code not in (200, 201, 202):
            return
        job = answer.json()["id"]
        self._active.add(job)
        if self._rng.random() < 0.3:
            await asyncio.sleep(self._rng.uniform(0, 4))
            await self.ask("cancel job", "POST", f"/v1/jobs/{job}/cancel")
        await self.listen(job, self._rng.uniform(2, 20))

    async def look_at_jobs(self) -> set[str]:
        """Active jobs; the results of the others are kept in `jobs`."""
        for job in list(self._active):
            answer = await self.ask("job state", "GET", f"/v1/jobs/{job}")
            if answer is not None and answer.status_code == 200 and (now := answer.json())["status"] not in _ACTIVE:
                self._active.discard(job)
                self.jobs[job] = now["status"]
                if now["status"] == "failed":
                    self._told.errors.append(f"job {job} failed: {now['error']}")
        return self._active

    async def listen(self, job: str, seconds: float) -> None:
        """Read a job's events for a while."""
        begun = time.monotonic()
        try:
            async with asyncio.timeout(seconds), self._client.stream("GET", f"/v1/jobs/{job}/events") as stream:
                async for _ in stream.aiter_lines():
                    pass
        except TimeoutError:
            self._told.note("events of a job", 200, time.monotonic() - begun)
        except httpx.HTTPError as error:
            self._told.note("events of a job", type(error).__name__, time.monotonic() - begun, str(error))
        else:
            self._told.note("events of a job", stream.status_code, time.monotonic() - begun)

    async def compile(self) -> None:
        """An upload of a text, sometimes a broken one."""
        text = _TEXT.read_text()
        broken = self._rng.random() < 0.3
        text = text[: self._rng.randrange(len(text))] if broken else text
        begun = time.monotonic()
        try:
            answer = await self._client.post("/v1/compile", json={"source": text, "device": "b580"})
        except httpx.HTTPError as error:
            self._told.note("compile text", type(error).__name__, time.monotonic() - begun, str(error))
            return
        status = 200 if broken and answer.status_code in (400, 409) else answer.status_code
        self._told.note("compile text", status, time.monotonic() - begun, answer.text)

    async def go_away(self) -> None:
        """Clients that send half, do not read, or leave at once."""
        host, _, port = self._served.url.removeprefix("http://").partition(":")
        body = json.dumps({"problem": self.problem(), "device": "b580"}).encode()
        head = "POST /v1/kernels/lookup HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        whole = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
        with suppress(OSError):
            for sent, wait_s in ((whole[: len(whole) // 2], 3.0), (whole, 0.0), (whole * 20, 1.0)):
                _, writer = await asyncio.open_connection(host, int(port))
                writer.write(sent)
                await asyncio.sleep(wait_s)
                writer.transport.abort()
        self._told.faults["disconnected clients"] += 3
