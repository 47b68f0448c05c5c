"""Counts and times of the requests that one process answered, as a collector of prometheus-client."""

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.routing import BaseRoute
from starlette.types import Scope

_BUCKETS_S = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))  # of others anyone could make up any
_NO_ROUTE = "none"


@dataclass(slots=True)
class _Durations:
    """Responses by the bucket of their time, and the sum of the times."""

    by_bucket: list[int] = field(default_factory=lambda: [0] * (len(_BUCKETS_S) + 1))
    sum_s: float = 0.0


class RequestMetrics(Collector):
    """The requests of one process by method, route template, and status. Thread-safe.

    Counts are plain integers until they are scraped: a counter of prometheus-client takes a lock and a few microseconds
    for each, which lookups would spend five times.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._responses: dict[tuple[str, str, int], _Durations] = {}
        self._found: Counter[str] = Counter()
        self._kept = self._worked_out = 0

    def note(self, scope: Scope, status: int, seconds: float) -> None:
        """Count the response to a request of that scope, by the path of its route as declared: ids and names in paths
        are not labels.
        """
        method: str = scope["method"]
        route: BaseRoute | None = scope.get("route")
        key = method if method in _METHODS else "other", getattr(route, "path", _NO_ROUTE), status
        with self._lock:
            durations = self._responses.get(key)
            if durations is None:
                durations = self._responses[key] = _Durations()
            durations.by_bucket[bisect_left(_BUCKETS_S, seconds)] += 1
            durations.sum_s += seconds

    def note_lookups(self, by_result: Mapping[str, int]) -> None:
        """Count lookups by what was found."""
        with self._lock:
            for found, count in by_result.items():
                self._found[found] += count

    def note_answers(self, *, kept: int, worked_out: int) -> None:
        """Count answers to lookups by whether they were cached."""
        with self._lock:
            self._kept += kept
            self._worked_out += worked_out

    def describe(self) -> list[Metric]:
        """Return the families without values."""
        return list(self.collect())

    def collect(self) -> Iterator[Metric]:
        """Return the metric families."""
        with self._lock:
            responses = {key: (tuple(each.by_bucket), each.sum_s) for key, each in self._responses.items()}
            found, kept, worked_out = dict(self._found), self._kept, self._worked_out
        yield _counts(responses)
        yield _seconds(responses)
        lookups = CounterMetricFamily(
            "xetune_lookups", "Kernels that were looked up, by what was found.", labels=["found"]
        )
        for name, count in found.items():
            lookups.add_metric([name], count)
        yield lookups
        cache = CounterMetricFamily(
            "xetune_lookup_cache",
            "Problems that were looked up, by whether the answer was kept in memory.",
            labels=["result"],
        )
        for result, count in {"hit": kept, "miss": worked_out}.items():
            cache.add_metric([result], count)
        yield cache


_Responses = dict[tuple[str, str, int], tuple[tuple[int, ...], float]]


def _counts(responses: _Responses) -> Metric:
    counts = CounterMetricFamily(
        "xetune_http_requests", "Requests that were answered.", labels=["method", "route", "status"]
    )
    for (method, route, status), (by_bucket, _) in responses.items():
        counts.add_metric([method, route, str(status)], sum(by_bucket))
    return counts


def _seconds(responses: _Responses) -> Metric:
    """Return the histogram, over all statuses of a method and route."""
    seconds = HistogramMetricFamily(
        "xetune_http_request_seconds", "Time from a request to the head of its answer.", labels=["method", "route"]
    )
    by_route: dict[tuple[str, str], list[tuple[tuple[int, ...], float]]] = {}
    for (method, route, _), each in responses.items():
        by_route.setdefault((method, route), []).append(each)
    for labels, of_statuses in by_route.items():
        at_most = accumulate(map(sum, zip(*(by_bucket for by_bucket, _ in of_statuses), strict=True)))
        buckets = [*zip((*map(str, _BUCKETS_S), "+Inf"), at_most, strict=True)]
        seconds.add_metric(labels, buckets, sum(sum_s for _, sum_s in of_statuses))
    return seconds
