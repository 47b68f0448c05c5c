"""CPU time of a cached lookup beside an empty route of FastAPI alone, both called in this process without a server.

Run: python -m benchmarks.service.lookup_cost [--rounds 60] [--calls 100] [--profile 40]

Calls of both are interleaved in short rounds, and the fastest round of each counts: other programs of the machine
change it least. `--profile` prints so many functions of 3,000 lookups, by their own time.
"""

import argparse
import asyncio
import cProfile
import gc
import os
import pstats
import statistics
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from fastapi import FastAPI, Response
from starlette.types import ASGIApp, Message

from db.migrate import prepare
from service.app import create_app
from service.settings import Settings
from service.telemetry.logs import configure_logs

_QUERY = b"m=512&n=384&k=1024&dtype=f16&device=b580"
_HOST = "127.0.0.1"
_PROFILED = 3_000


class Target(NamedTuple):
    """An app, and the path and query of a request."""

    app: ASGIApp
    path: str
    query: bytes = b""


def main() -> None:
    """Print the times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--calls", type=int, default=100, help="calls in a round")
    parser.add_argument("--profile", type=int, default=0, metavar="FUNCTIONS")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as text:
        os.environ["XETUNE_DATA_DIR"] = text
        settings = Settings(data_dir=Path(text), rate_per_s=0, log_level="warning")
        configure_logs(settings)
        prepare(settings.database_url, create=True).close()
        asyncio.run(_measure(settings, options.rounds, options.calls, options.profile))


async def _measure(settings: Settings, rounds: int, calls: int, profiled: int) -> None:
    bare, app = FastAPI(), create_app(settings)
    bare.add_api_route("/empty", _answer_nothing)
    targets: dict[str, Target] = {
        "an empty route of FastAPI alone": Target(bare, "/empty"),
        "a cached lookup": Target(app, "/v1/kernels", _QUERY),
    }
    async with app.router.lifespan_context(app):
        await _until_cached(app)
        gc.collect()
        gc.freeze()  # as xetune serve does
        times: dict[str, list[float]] = {name: [] for name in targets}
        for _ in range(rounds):
            for name, target in targets.items():
                times[name].append(await _us_of(target, calls))
        nothing, lookup = times.values()
        for name, values in times.items():
            print(f"{name}: {min(values):.1f} us at least, {statistics.median(values):.1f} in the median")
        ratios = [mine / theirs for theirs, mine in zip(nothing, lookup, strict=True)]
        print(f"ratio: {min(lookup) / min(nothing):.2f} of the least, {statistics.median(ratios):.2f} in the median")
        if profiled:
            await _profile(targets["a cached lookup"], profiled)


async def _answer_nothing() -> Response:
    return Response()


async def _until_cached(app: FastAPI) -> None:
    """Look the problem up until two answers are equal: devices are listed in the background at first."""
    for _ in range(100):
        if [await call(Target(app, "/v1/kernels", _QUERY)) for _ in range(3)] == [200] * 3:
            return
        await asyncio.sleep(0.1)
    raise RuntimeError("expected an answer to the lookup within 10 s")


async def _us_of(target: Target, calls: int) -> float:
    begun = time.thread_time()
    for _ in range(calls):
        await call(target)
        await asyncio.sleep(0)  # requests of one step of the event loop would share a look at the database
    return 1e6 * (time.thread_time() - begun) / calls


async def _profile(target: Target, functions: int) -> None:
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(_PROFILED):
        await call(target)
    profile.disable()
    pstats.Stats(profile).sort_stats("tottime").print_stats(functions)


async def call(target: Target) -> int:
    """Send a request as a server does, and return the status of the response."""
    app, path, query = target
    status = 0

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "path": path,
        "raw_path": path.encode(), "query_string": query, "headers": [(b"host", _HOST.encode())],
        "client": (_HOST, 5), "server": (_HOST, 8752), "scheme": "http", "root_path": "", "state": {},
    }  # fmt: skip
    await app(scope, receive, send)
    return status


if __name__ == "__main__":
    main()
