"""Metrics of one service process."""

import platform
from collections.abc import Callable
from datetime import datetime
from importlib.metadata import version

from prometheus_client import CollectorRegistry, Gauge, GCCollector, ProcessCollector

from codegen.artifact.toolchain import toolchain_versions
from db.session import Database
from service.api.metrics.requests import RequestMetrics
from service.api.metrics.stored import StoredMetrics
from service.http.limits import Slots


class Metrics:
    """A registry with the counters of this process and the metrics from the database. Thread-safe."""

    def __init__(self, database: Database, streams: Slots, now: Callable[[], datetime], fresh_s: float) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self.requests = RequestMetrics()
        self.registry.register(self.requests)
        self.registry.register(StoredMetrics(database, now, fresh_s))
        streams_now = Gauge("xetune_event_streams", "Event streams that are open.", registry=self.registry)
        streams_now.set_function(lambda: streams.taken)
        about = {"version": version("xetune"), "python": platform.python_version(), **_named(toolchain_versions())}
        Gauge("xetune_build_info", "Versions of this program; always 1.", tuple(about), registry=self.registry).labels(
            *about.values()
        ).set(1)


def _named(versions: dict[str, str]) -> dict[str, str]:
    return {name.replace("-", "_"): text for name, text in versions.items()}
