"""REST service: assembly of the app from its features."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import cache
from importlib import import_module
from importlib.metadata import version
from itertools import chain
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse
from starlette.routing import BaseRoute

from db.session import open_database
from db.values import utc_now
from service.api.keys.guard import READ, operation_id
from service.http.context import Context
from service.http.idempotency import (
    REPLAYED,
    add_replays,
)
from service.http.problem_json import add_problem_handlers
from service.http.request_guard import RequestGuard
from service.http.responses import (
    EVERYWHERE,
)
from service.settings import Settings

if TYPE_CHECKING:
    from hal.devices.listed import ListedDevice

_FEATURES = (
    "kernels.lookup.routes",
    "jobs.routes",
    "kernels.routes",
    "kernels.file_routes",
    "kernels.binary_routes",
    "hostcode.routes",
    "devices.routes",
    "accuracy.routes",
    "fleet.routes",
    "schedules.routes",
    "shapes.routes",
    "exchange.routes",
    "recordings.routes",
    "records.routes",
    "compile.routes",
    "explain.routes",
    "xray.routes",
    "keys.routes",
    "audit.routes",
    "metrics.routes",
)
"""Modules of the API's routes."""


def create_app(
    settings: Settings,
    list_all: "Callable[[], Sequence[ListedDevice]] | None" = None,
    now: Callable[[], datetime] = utc_now,
) -> FastAPI:
    """Create an app that serves the database and artifacts of `settings`, for the devices that `list_all`
    returns; by default those of this machine.

    Nothing is opened before it starts; with a database that is not migrated, requests are answered with 503.
    """
    context = Context(settings, open_database(settings.database_url), list_all, now)
    context.build_all()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        from service.api.schedules.clock import ScheduleClock

        clock = ScheduleClock(context) if settings.scheduler else None
        context.devices.prepare()
        if clock is not None:
            clock.start()
        try:
            yield
        finally:
            if clock is not None:
                clock.stop()
            context.close()

    app = FastAPI(
        title="XeTune",
        summary="Finds, verifies, stores and serves the fastest GEMM kernel for a problem on a device.",
        version=version("xetune"),
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # Traced and RequestGuard are ours
        redirect_slashes=False,  # by plain http if a proxy terminates TLS, with the key
        generate_unique_id_function=operation_id,
    )
    app.state.context = context
    app.openapi = lambda: _contract(app)
    if settings.cors:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors,
            allow_methods=["GET", "HEAD", "POST", "PUT", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "X-Request-Id"],
            expose_headers=[REPLAYED, "Location", "Retry-After", "X-Request-Id"],
        )
    app.add_middleware(RequestGuard, settings=settings, note=context.metrics.requests.note)
    if settings.traces is not None:
        from service.telemetry.traces import Traced

        app.add_middleware(Traced)
    add_problem_handlers(app)
    add_replays(app)
    app.router.routes.extend(_routes())

    @app.get("/openapi.json", include_in_schema=False, dependencies=[READ])
    def read_contract() -> JSONResponse:
        """The contract of this service."""
        return JSONResponse(app.openapi())

    return app


@cache
def _routes() -> tuple[BaseRoute, ...]:
    """Return all routes; shared by all apps of a process, since their first use is slow."""
    from service.api.health.routes import router as health
    from service.dashboard.routes import router as dashboard
    from service.dashboard.session import router as session

    every = APIRouter(generate_unique_id_function=operation_id)
    every.include_router(health, responses=EVERYWHERE)
    for router in (dashboard, session):
        every.include_router(router, include_in_schema=False)
    features = (import_module(f"service.api.{name}").router.routes for name in _FEATURES)
    return *chain.from_iterable(features), *every.routes


def _contract(app: FastAPI) -> dict[str, object]:
    from service.openapi.contract import contract

    return contract(app)
