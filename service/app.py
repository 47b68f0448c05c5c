"""REST service: assembly of the app from its features."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse
from starlette.routing import BaseRoute

from db.values import utc_now
from service.api.keys.guard import READ, operation_id
from service.http.deps import Context
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
from service.traces import Traced

if TYPE_CHECKING:
    from hal.devices.listed import ListedDevice

_FEATURES = {
    "kernels.lookup.routes": ("kernels",),
    "jobs.routes": ("jobs",),
    "kernels.routes": ("kernels",),
    "kernels.file_routes": ("kernels", "artifacts"),
    "kernels.binary_routes": ("kernels", "binaries"),
    "hostcode.routes": ("kernels",),
    "devices.routes": ("devices",),
    "accuracy.routes": ("devices",),
    "fleet.routes": ("fleet",),
    "schedules.routes": ("schedules",),
    "shapes.routes": ("shape-sets",),
    "exchange.routes": ("imports", "exports"),
    "recordings.routes": ("recordings",),
    "records.routes": ("records",),
    "compile.routes": ("compile",),
    "explain.routes": ("explain",),
    "xray.routes": ("xray", "kernels"),
    "keys.routes": ("keys",),
    "audit.routes": ("audit",),
    "metrics.routes": (),
}
"""Routes of the API: the module, and the first segments of its paths below /v1."""


def create_app(
    settings: Settings,
    list_all: "Callable[[], Sequence[ListedDevice]] | None" = None,
    now: Callable[[], datetime] = utc_now,
    *,
    on_demand: bool = False,
) -> FastAPI:
    """Create an app that serves the database and artifacts of `settings`, for the devices that `list_all`
    returns; by default those of this machine.

    Nothing is opened before it starts; with a database that is not migrated, requests are answered with 503.
    With `on_demand` it has only the routes that `add_routes` adds: importing all of them takes seconds.
    """
    context = Context(settings, list_all, now)
    if not on_demand:
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
    app.state.context, app.state.resources = context, set[str]()
    app.openapi = lambda: _contract(app)
    if settings.cors:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors,
            allow_methods=["GET", "HEAD", "POST", "PUT", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "X-Request-Id"],
            expose_headers=[REPLAYED, "Location", "Retry-After", "X-Request-Id"],
        )
    # Nobody scrapes a command.
    note = None if on_demand else context.metrics.requests.note
    app.add_middleware(RequestGuard, settings=settings, note=note)
    if settings.traces is not None:
        app.add_middleware(Traced)
    add_problem_handlers(app)
    add_replays(app)
    if not on_demand:
        app.router.routes.extend(_routes())

    @app.get("/openapi.json", include_in_schema=False, dependencies=[READ])
    def read_contract() -> JSONResponse:
        """The contract of this service."""
        return JSONResponse(app.openapi())

    return app


def add_routes(app: FastAPI, path: str) -> None:
    """Add the routes of the API's resource that a path names; for an app whose routes are added on demand."""
    resource = path.removeprefix("/v1/").partition("/")[0]
    if resource not in app.state.resources:
        app.state.resources.add(resource)
        app.router.routes.extend(_routes_of(resource))


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
    return *_routes_of(None), *every.routes


@cache
def _routes_of(resource: str | None) -> tuple[BaseRoute, ...]:
    """Return the routes of a resource, or of all."""
    every: list[BaseRoute] = []
    for name, resources in _FEATURES.items():
        if resource is None or resource in resources:
            every += import_module(f"service.api.{name}").router.routes
    return tuple(every)


def _contract(app: FastAPI) -> dict[str, object]:
    from service.openapi import contract

    return contract(app)
