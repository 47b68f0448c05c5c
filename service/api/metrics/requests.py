"""Middleware that counts and times requests by route."""

import time

from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_BUCKETS_S = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))  # of others anyone could make up any
_NO_ROUTE = "none"


class RequestMetrics:
    """The requests of one process by method, route template, and status. Thread-safe."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "xetune_http_requests", "Requests that were answered.", ("method", "route", "status"), registry=registry
        )
        self._seconds = Histogram(
            "xetune_http_request_seconds",
            "Time from a request to the head of its answer.",
            ("method", "route"),
            buckets=_BUCKETS_S,
            registry=registry,
        )
        self.lookups = Counter(
            "xetune_lookups", "Kernels that were looked up, by what was found.", ("found",), registry=registry
        )

        self._answers = Counter(
            "xetune_lookup_cache",
            "Problems that were looked up, by whether the answer was kept in memory.",
            ("result",),
            registry=registry,
        )

        self._hits, self._misses = self._answers.labels("hit"), self._answers.labels("miss")
        self._by_route: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def note_answers(self, *, kept: int, worked_out: int) -> None:
        """Count answers to lookups by whether they were cached."""
        if kept:
            self._hits.inc(kept)
        if worked_out:
            self._misses.inc(worked_out)

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a response."""
        known = self._by_route.get((method, route, status))
        if known is None:  # labels() takes longer than the counting
            known = self._requests.labels(method, route, str(status)), self._seconds.labels(method, route)
            self._by_route[method, route, status] = known
        requests, histogram = known
        requests.inc()
        histogram.observe(seconds)


class Counted:
    """ASGI middleware that reports each response to RequestMetrics."""

    def __init__(self, app: ASGIApp, metrics: RequestMetrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()

        async def counted_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                method = scope["method"] if scope["method"] in _METHODS else "other"
                self._metrics.note(method, _template(scope), message["status"], time.perf_counter() - begun)
            await send(message)

        await self._app(scope, receive, counted_send)


def _template(scope: Scope) -> str:
    """Return the path of the route as declared; ids and names in the path are not labels."""
    route: BaseRoute | None = scope.get("route")
    return getattr(route, "path", _NO_ROUTE)
