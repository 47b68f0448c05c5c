"""Soak test: load of all kinds on a service for a long time, with faults injected; counts failures.

Run: python -m benchmarks.service.soak [--minutes 30] [--database sqlite|postgresql] [--fill 20000] [--pace 1]
     [--active 4]

Lookups alone and in batches, lists, jobs that are tuned and cancelled, event streams, uploads to compile; and every
half minute a fault: the worker is killed, the database is stopped (SQLite: held locked), artifacts cannot be written.
Clients go away in the middle, send slowly or do not read. An answer of 503 counts as injected while the database is
away and shortly after; every other error counts, and so does a job that fails or does not end.
"""

import argparse
import asyncio
import random
import re
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path

import httpx

from benchmarks.service.filling import fill
from benchmarks.service.serving import (
    Served,
    serving,
)
from benchmarks.service.soak_faults import (
    Faults,
    postgresql,
    sqlite,
)
from benchmarks.service.soak_load import (
    Load,
    Told,
)
from db.migrate import prepare
from service.artifacts import ArtifactStore

_STUCK_S = 300.0  # after which jobs of which none ends will not


async def _repeat(until: float, pause_s: float, act: Callable[[], Awaitable[None]]) -> None:
    while time.monotonic() < until:
        await act()
        await asyncio.sleep(random.uniform(0.5, 1.5) * pause_s)


async def run(served: Served, told: Told, minutes: float, faults: Faults, pace: float, active: int) -> Load:
    """Load and faults for so long, then wait for the jobs."""
    until = time.monotonic() + minutes * 60
    limits = httpx.Limits(max_connections=200)
    async with httpx.AsyncClient(base_url=served.url, timeout=60, limits=limits) as client:
        load = Load(served, client, told, 1, active)
        kinds = [
            *[(0.1, load.look_up)] * 2,
            (0.7, load.look_up_many),
            (0.5, load.list_things),
            *[(8.0, load.tune)] * 3,
            (12.0, load.compile),
            (5.0, load.go_away),
        ]
        tasks = [asyncio.create_task(_repeat(until, pace * pause_s, act)) for pause_s, act in kinds]
        tasks.append(asyncio.create_task(_watch(served, told, until)))
        tasks.append(asyncio.create_task(faults.run(until)))
        await asyncio.gather(*tasks)
        await _settle(load, told)
    return load


async def _watch(served: Served, told: Told, until: float) -> None:
    began = time.monotonic()
    while (now := time.monotonic()) < until:
        told.rss_mb.append((now - began, served.rss_mb))
        await asyncio.sleep(2)


def by_minute(samples: Sequence[tuple[float, float]]) -> list[float]:
    """Return the median of each minute that has samples, each of which is of a number of seconds."""
    return [statistics.median(mb for _, mb in of) for _, of in groupby(samples, lambda sample: sample[0] // 60)]


async def _settle(load: Load, told: Told) -> None:
    """Wait until no job is active, for as long as some end: none may be lost."""
    ended_at, left = time.monotonic(), len(await load.look_at_jobs())
    while left:
        await asyncio.sleep(3)
        before, left = left, len(await load.look_at_jobs())
        if left < before:
            ended_at = time.monotonic()
        elif time.monotonic() - ended_at > _STUCK_S:
            told.errors.append(f"{left} jobs are active, and none ended for {_STUCK_S:.0f} s")
            return


def main() -> None:
    """Print what was asked, what was broken, what went wrong, and how memory went."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="postgresql")
    parser.add_argument("--fill", type=int, default=20_000, help="trials that are there before")
    parser.add_argument("--pace", type=float, default=1.0, help="factor of all pauses: more is less load")
    parser.add_argument("--active", type=int, default=4, help="jobs that are active at one time, at most")
    options = parser.parse_args()
    told = Told()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="xetune-soak-")))
        broken = stack.enter_context((sqlite if options.database == "sqlite" else postgresql)(folder))
        database = prepare(broken.url, create=True)
        fill(database, ArtifactStore(folder / "artifacts"), options.fill // 10, options.fill)
        database.close()
        variables = {"XETUNE_DATA_DIR": str(folder), "XETUNE_DATABASE_URL": broken.url, "XETUNE_RATE_PER_S": "0"}
        variables |= {"XETUNE_LEASE_S": "20", "XETUNE_WORKER_POLL_S": "0.5"}
        served = stack.enter_context(serving(folder, variables, ("service.cli", "serve")))
        faults = Faults(served, told, folder, broken)
        load = asyncio.run(run(served, told, options.minutes, faults, options.pace, options.active))
        alive = served.process.is_running()
        log = served.log.read_text()
    Path("soak.log").write_text(log)
    _print(told, load, options.minutes, options.database, alive, log)


def _print(told: Told, load: Load, minutes: float, database: str, alive: bool, log: str) -> None:
    print(f"{minutes:g} minutes of mixed load on {database}, {sum(told.answers.values()):,} requests\n")
    print("| request | count | median | responses |\n|---|---:|---:|---|")
    for what in sorted(told.slow):
        seconds = sorted(told.slow[what])
        by = ", ".join(f"{count:,} x {status}" for (w, status), count in sorted(told.answers.items()) if w == what)
        middle = statistics.median(seconds)
        shown = f"{1e3 * middle:.0f} ms" if middle < 1 else f"{middle:.1f} s"
        print(f"| {what} | {len(seconds):,} | {shown} | {by} |")
    print("\n- Injected: ", end="")
    print(", ".join(f"{count:,} {what}" for what, count in sorted(told.faults.items())), end=". ")
    print(f"Unexplained errors: {len(told.errors) or 'none'}.")
    ended = ", ".join(f"{count} {what}" for what, count in sorted(Counter(load.jobs.values()).items()))
    print(f"- Of {len(load.jobs)} jobs: {ended}.")
    minutely = ", ".join(f"{mb:.0f}" for mb in by_minute(told.rss_mb))
    print(f"- Memory of the service by the minute: {minutely} MB; at most {max(mb for _, mb in told.rss_mb):.0f} MB.")
    raised = Counter(
        re.findall(r"^(?:│ )?([A-Za-z_.]+(?:Error|Exception|Lost|Unwritable|Missing)\b.{0,100})", log, re.M)
    )
    print(f"- The service {'still runs' if alive else 'ENDED'}. Exceptions in its log:")
    for line, count in raised.most_common(12):
        print(f"{count:5} x {line}")
    for error in told.errors[:20]:
        print("  ", error)


if __name__ == "__main__":
    main()
