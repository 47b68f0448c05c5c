"""A cached lookup calls fewer functions than an empty route of FastAPI alone."""

import asyncio
import sys
from types import FrameType

from fastapi import FastAPI, Response

from benchmarks.service.lookup_cost import Target, call
from service.app import create_app
from service.settings import Settings
from tests.service.rest import Clock, invented_devices

MOST = 0.77  # 0.79 inside FastAPI's own handling of a route, 1.05 with a middleware and counters for metrics alone


async def answer_nothing() -> Response:
    return Response()


async def count_calls(target: Target) -> int:
    """Return the number of functions of Python that a request calls or resumes, and of C that it calls."""
    calls = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    for _ in range(3):  # answers from the cache by then
        assert await call(target) == 200
    await asyncio.sleep(0)  # a request of another step of the event loop looks at the database itself
    sys.setprofile(note)
    try:
        await call(target)
    finally:
        sys.setprofile(None)
    return calls


def test_a_cached_lookup_calls_few_functions(settings: Settings, clock: Clock) -> None:
    async def count() -> tuple[int, int]:
        bare, app = FastAPI(), create_app(settings, invented_devices, clock)
        bare.add_api_route("/empty", answer_nothing)
        try:
            nothing = await count_calls(Target(bare, "/empty"))
            app.state.context.devices.all()
            return nothing, await count_calls(Target(app, "/v1/kernels", b"m=96&n=64&k=128&device=b580"))
        finally:
            app.state.context.close()

    nothing, lookup = asyncio.run(count())
    assert lookup < MOST * nothing, f"{lookup} calls, an empty route of FastAPI {nothing}"
