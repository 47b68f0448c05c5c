"""Throughput and latency of the service with a full database, loaded by wrk over loopback.

Run: XETUNE_DATA_DIR=DIR python -m benchmarks.service.load [--seconds 5] [--rounds 3] [--problems 10000] [--long 60]

The database of the settings must be filled (benchmarks.service.filling). Rates of an empty route of FastAPI alone, of
an empty route of the service and of lookups are measured interleaved, by wall time and by CPU time of the server, which
other programs change less. Before that, every stored problem is looked up once, in batches, and timed: first answers
are computed, later ones come from memory. Latency is measured for `--long` seconds as well, without and with 50 commits
per second by another process.
"""

import argparse
import asyncio
import itertools
import json
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import httpx
from sqlalchemy import delete, insert, select

from benchmarks.service import wrk
from benchmarks.service.serving import (
    Served,
    serving,
)
from benchmarks.service.wrk import Asked
from db.migrate import prepare
from db.schema.job import Job as JobRow
from db.schema.target import Device as DeviceRow
from db.schema.target import Problem as ProblemRow
from db.schema.trial import Trial as TrialRow
from db.session import Database
from db.values import new_id, utc_now
from service.settings import read_settings

_SERVER = "benchmarks.service.load_server"
_COMMITS_PER_S = 50
_DEVICES = ("b580", "b60", "b570", "max1100")
_CONNECTIONS, _OF_A_BATCH, _LISTENERS = 32, 1_000, 200
_SHOWN = {"bare": "an empty route of FastAPI alone", "empty": "an empty route of the service", "lookup": "a lookup"}
_LISTS = (
    "/v1/jobs",
    "/v1/jobs?status=failed",
    "/v1/devices",
    "/v1/schedules",
    "/v1/audit",
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--problems", type=int, default=10_000, help="asked for at most, each on four devices")
    parser.add_argument("--long", type=float, default=60.0, help="seconds of each measurement of latency")
    options = parser.parse_args()
    settings = read_settings()
    database = prepare(settings.database_url, create=False)
    problems = _problems(database)[: options.problems]
    if len(problems) < _OF_A_BATCH:
        raise SystemExit(
            f"{settings.database_url} holds {len(problems)} problems; fill one with benchmarks.service.filling"
        )
    variables = {
        "XETUNE_DATA_DIR": str(settings.data_dir),
        "XETUNE_DATABASE_URL": settings.database_url,
        "XETUNE_RATE_PER_S": "0",
        "XETUNE_MAX_STREAMS": str(2 * _LISTENERS),
        "XETUNE_LOG_LEVEL": "warning",
    }
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        with (
            serving(folder, variables, (_SERVER,)) as served,
            serving(folder, variables, (_SERVER, "--bare")) as bare,
        ):
            print("| measurement | target | result |\n|---|---:|---:|")
            start_mb = served.rss_mb
            _first(served, problems)
            _untuned(served)
            rate = _lookups(served, bare, folder, problems, options.seconds, options.rounds)
            _half(served, folder, problems, options.long, rate)
            with _commits(database):
                _half(served, folder, problems, options.long, rate, f", with {_COMMITS_PER_S} commits per second")
            _batches(served, folder, problems, options.seconds)
            _lists(served, database)
            asyncio.run(_listeners(served, database))
            memory = f"{start_mb:.0f} and {served.rss_mb:.0f} MB"
            _say(f"memory at the start, and with {_LISTENERS} listeners", memory, "300 MB")
    database.close()


def _say(measurement: str, result: str, target: str = "") -> None:
    print(f"| {measurement} | {target} | {result} |", flush=True)


def _problems(database: Database) -> list[dict[str, object]]:
    with database.read() as session:
        return [dict(p) for p in session.scalars(select(ProblemRow.definition).order_by(ProblemRow.id))]


def _bodies(problems: list[dict[str, object]], form: str) -> list[str]:
    """Return batches of all problems on every device."""
    names = ("m", "n", "k", "dtype_a", "dtype_b")
    short = [{name: problem[name] for name in names} for problem in problems]
    return [
        json.dumps({"problems": short[begin : begin + _OF_A_BATCH], "device": device, "form": form})
        for device in _DEVICES
        for begin in range(0, len(short) - _OF_A_BATCH + 1, _OF_A_BATCH)
    ]


def _first(served: Served, problems: list[dict[str, object]]) -> None:
    httpx.get(f"{served.url}/v1/devices", timeout=60)
    begun, asked = time.monotonic(), 0
    for body in _bodies(problems, "columns"):
        _post(served, body)
        asked += _OF_A_BATCH
    rate = f"{asked / (time.monotonic() - begun):,.0f}"
    _say("problems per second in batches, tuned, first lookup of each", rate)
    for form in ("columns", "whole"):
        for body in _bodies(problems, form):
            _post(served, body)


def _untuned(served: Served) -> None:
    """Look up problems that were never tuned: answers are the nearest, the model's choice or the default."""
    rng = random.Random(9)
    drawn = [
        {name: rng.randint(1, 9_000) for name in ("m", "n")} | {"k": 8 * rng.randint(1, 1_100)} for _ in range(300)
    ]
    before, begun = served.processor_s, time.monotonic()
    _post(served, json.dumps({"problems": drawn, "device": _DEVICES[0], "form": "columns"}))
    took_s, cost_ms = time.monotonic() - begun, 1e3 * (served.processor_s - before) / len(drawn)
    result = f"{len(drawn) / took_s:.0f}; {cost_ms:.0f} ms of CPU time each"
    _say("problems per second in a batch, never tuned", result)


def _post(served: Served, body: str) -> None:
    """Send a batch over its own connection: a kept one may be closed while the next batch is made."""
    path, headers = f"{served.url}/v1/kernels/lookup/batch", {"Content-Type": "application/json"}
    httpx.post(path, content=body, headers=headers, timeout=600).raise_for_status()


def _asked(problems: list[dict[str, object]]) -> list[Asked]:
    rng = random.Random(5)
    drawn = [(problem, device) for problem in rng.sample(problems, 125) for device in _DEVICES]
    rng.shuffle(drawn)
    return [Asked(f"/v1/kernels?m={p['m']}&n={p['n']}&k={p['k']}&dtype={p['dtype_a']}&device={d}") for p, d in drawn]


def _lookups(
    served: Served, bare: Served, folder: Path, problems: list[dict[str, object]], seconds: float, rounds: int
) -> float:
    empty, asked = [Asked("/empty")], _asked(problems)
    by_name = {"bare": (bare, empty), "empty": (served, empty), "lookup": (served, asked)}
    count = 0.0
    while count < len(asked):  # so that each was looked up once
        count += seconds * wrk.run(folder, served.url, asked, seconds, _CONNECTIONS).per_s
    rates: dict[str, list[float]] = {name: [] for name in by_name}
    cost: dict[str, list[float]] = {name: [] for name in by_name}
    for _ in range(rounds):
        for name, (server, requests) in by_name.items():
            before = server.processor_s
            found = wrk.run(folder, server.url, requests, seconds, _CONNECTIONS)
            rates[name].append(found.per_s)
            cost[name].append(1e6 * (server.processor_s - before) / (found.per_s * seconds))
            if found.failed:
                raise RuntimeError(f"{found.failed} requests to {name} failed")
    for name, target in (("bare", "0.6"), ("empty", "")):
        ratios = [lookup / nothing for nothing, lookup in zip(rates[name], rates["lookup"], strict=True)]
        title = f"rate of lookups over that of {_SHOWN[name]}, {rounds} rounds"
        _say(title, ", ".join(f"{ratio:.2f}" for ratio in ratios), target)
    for name, values in rates.items():
        _say(f"{_SHOWN[name]}, requests per second", ", ".join(f"{value:,.0f}" for value in values))
    costs = ", ".join(f"{statistics.median(cost[name]):.0f}" for name in by_name)
    _say("CPU time of these three", f"{costs} us")
    return statistics.median(rates["lookup"])


def _half(
    served: Served, folder: Path, problems: list[dict[str, object]], seconds: float, peak: float, beside: str = ""
) -> None:
    delay_ms = round(_CONNECTIONS / (peak / 2) * 1000)
    found = wrk.run(folder, served.url, _asked(problems), seconds, _CONNECTIONS, max(delay_ms, 1))
    if found.failed:
        raise RuntimeError(f"{found.failed} lookups failed")
    what = f"lookup at half of the peak ({found.per_s:.0f} per second), {seconds:.0f} s{beside}"
    _say(f"{what}: median", f"{found.median_ms:.1f} ms")
    _say(f"{what}: p99", f"{found.p99_ms:.1f} ms", "20 ms")


@contextmanager
def _commits(database: Database) -> Generator[None]:
    """Commit trials of a running job, as a worker does, until the block ends."""
    job_id, ended = _add_running(database), threading.Event()

    def commit() -> None:
        for number in itertools.count():
            if ended.wait(1 / _COMMITS_PER_S):
                return
            _add_trial(database, job_id, number)

    thread = threading.Thread(target=commit)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        _remove(database, job_id)


def _batches(served: Served, folder: Path, problems: list[dict[str, object]], seconds: float) -> None:
    for form in ("columns", "whole"):
        asked = [Asked("/v1/kernels/lookup/batch", body) for body in _bodies(problems, form)]
        found = wrk.run(folder, served.url, asked, seconds, 2)
        if found.failed:
            raise RuntimeError(f"{found.failed} batches failed")
        columns = "problems per second in batches of 1,000, columns"
        measurement = columns if form == "columns" else "the same with full answers"
        _say(measurement, f"{found.per_s * _OF_A_BATCH:,.0f}", "50,000")


def _lists(served: Served, database: Database) -> None:
    with database.read() as session:
        largest = session.scalars(select(TrialRow.job_id).where(TrialRow.number == 9_999)).first()
    names = {f"/v1/jobs/{largest}": "a job of 10,000 trials", f"/v1/jobs/{largest}/trials": "its trials"}
    names[_LISTS[0]] = f"`{_LISTS[0]}`, median and minimum"
    paths = [*_LISTS, *([f"/v1/jobs/{largest}", f"/v1/jobs/{largest}/trials"] if largest else [])]
    with httpx.Client(base_url=served.url, timeout=60) as client:
        for path in paths:
            times: list[float] = []
            for _ in range(15):
                begun = time.perf_counter()
                client.get(path).raise_for_status()
                times.append(1e3 * (time.perf_counter() - begun))
            _say(names.get(path, f"`{path}`"), f"{statistics.median(times):.0f} and {min(times):.0f} ms", "50 ms")


async def _listeners(served: Served, database: Database) -> None:
    """Measure the delay until all listeners of a job have a new trial, and their cost while idle."""
    job_id = _add_running(database)
    try:
        limits = httpx.Limits(max_connections=_LISTENERS + 10)
        async with httpx.AsyncClient(base_url=served.url, timeout=60, limits=limits) as client:
            heard = asyncio.Queue[float]()
            tasks = [asyncio.create_task(_listen(client, job_id, heard)) for _ in range(_LISTENERS)]
            for _ in tasks:
                await asyncio.wait_for(heard.get(), 120)
            before = served.processor_s
            await asyncio.sleep(5)
            busy = (served.processor_s - before) / 5
            begun = time.monotonic()
            _add_trial(database, job_id)
            late = [await asyncio.wait_for(heard.get(), 120) - begun for _ in tasks]
            _say(f"{_LISTENERS} listeners of one job: delay until all have a new trial", f"{max(late):.2f} s")
            _say(f"{_LISTENERS} idle listeners", f"{100 * busy:.0f} % of a core")
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    finally:
        _remove(database, job_id)


async def _listen(client: httpx.AsyncClient, job_id: UUID, heard: asyncio.Queue[float]) -> None:
    async with client.stream("GET", f"/v1/jobs/{job_id}/events") as stream:
        async for line in stream.aiter_lines():
            if line.startswith(("event: trial", "event: job")):
                heard.put_nowait(time.monotonic())


def _add_running(database: Database) -> UUID:
    now, job_id = utc_now(), new_id()
    with database.write() as session:
        problem, device = (session.scalars(select(t.id).limit(1)).one() for t in (ProblemRow, DeviceRow))
        values = {
            "id": job_id, "problem_id": problem, "device_id": device, "status": "running", "budget_trials": 10,
            "budget_seconds": 600.0, "seed": 1, "request_hash": "0" * 64, "worker": "benchmark", "attempts": 1,
            "lease_until": now + timedelta(hours=1), "started_at": now,
        }  # fmt: skip
        session.execute(insert(JobRow), [values])
    return job_id


def _remove(database: Database, job_id: UUID) -> None:
    with database.write() as session:
        session.execute(delete(TrialRow).where(TrialRow.job_id == job_id))
        session.execute(delete(JobRow).where(JobRow.id == job_id))


def _add_trial(database: Database, job_id: UUID, number: int = 0) -> None:
    with database.write() as session:
        values = {
            "job_id": job_id, "number": number, "config": {}, "config_hash": f"{number:064x}", "status": "rejected",
            "reason": "rule registers: too many", "ended_at": utc_now(),
        }  # fmt: skip
        session.execute(insert(TrialRow), [values])


if __name__ == "__main__":
    main()
