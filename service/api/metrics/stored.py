"""Metrics from the database for the whole service, as a collector of prometheus-client."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from db.errors import DatabaseError
from db.queries import (
    jobs,
    metrics,
)
from db.queries.cluster import heartbeats
from db.queries.metrics import (
    BUCKETS_S,
    TrialTotals,
)
from db.schema.change import Tallied
from db.schema.job import JOB_STATUSES
from db.schema.presence import Presence
from db.schema.schedule import FIRE_OUTCOMES
from db.schema.trial import TRIAL_STATUSES
from db.session import Database
from service.api.metrics.trials import TrialTally
from service.telemetry.loggers import Logger

_BEST_EVERY = 6  # times `fresh_s`: it reads a row of each job
_log = Logger(__name__)


@dataclass(slots=True)
class _Snapshot:
    at: datetime
    jobs: dict[str, int]
    oldest: datetime | None
    trials: TrialTotals
    fires: dict[str, int]
    present: list[Presence]
    tallied: dict[Tallied, int]
    best: list[tuple[str, str, float]] = field(default_factory=list[tuple[str, str, float]])


class StoredMetrics(Collector):
    """Metrics that are equal in every replica, so that they must not be summed. Thread-safe.

    Values are reused for `fresh_s` seconds. While the database does not answer, only that is reported.
    """

    def __init__(self, database: Database, now: Callable[[], datetime], fresh_s: float) -> None:
        self._database, self._now, self._fresh_s = database, now, fresh_s
        self._tally = TrialTally(database)
        self._lock = threading.Lock()
        self._snapshot: _Snapshot | None = None
        self._read_s = self._best_s = -float("inf")
        self._best: list[tuple[str, str, float]] = []

    def describe(self) -> list[Metric]:
        """Return nothing: registration must not query the database."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Return the metric families, read from the database or reused."""
        with self._lock:
            snapshot = self._current()
        up = 0 if snapshot is None else 1
        yield GaugeMetricFamily("xetune_database_up", "Whether the database answers.", value=up)
        if snapshot is not None:
            yield from _job_families(snapshot)
            yield from _trial_families(snapshot.trials)
            yield _cache_family(snapshot.tallied)
            yield from _presence_families(snapshot)

    def _current(self) -> _Snapshot | None:
        if time.monotonic() - self._read_s > self._fresh_s:
            try:
                self._snapshot = self._read()
            except DatabaseError as error:
                _log.warning("metrics wait for the database", error=str(error))
                self._snapshot = None
            self._read_s = time.monotonic()
        return self._snapshot

    def _read(self) -> _Snapshot:
        trials = self._tally.refresh()
        with self._database.read() as session:
            if time.monotonic() - self._best_s > _BEST_EVERY * self._fresh_s:
                self._best, self._best_s = metrics.best_tflops(session), time.monotonic()
            return _Snapshot(
                self._now(),
                jobs.count_by_status(session),
                metrics.oldest_queued(session),
                trials,
                metrics.fires(session),
                heartbeats.list_all(session),
                metrics.counts(session),
                self._best,
            )


def _job_families(snapshot: _Snapshot) -> Iterator[Metric]:
    states = GaugeMetricFamily("xetune_jobs", "Jobs by their state.", labels=["state"])
    for status in JOB_STATUSES:
        states.add_metric([status], snapshot.jobs.get(status, 0))
    yield states
    age_s = 0.0 if snapshot.oldest is None else max((snapshot.at - snapshot.oldest).total_seconds(), 0.0)
    yield GaugeMetricFamily(
        "xetune_queue_age_seconds", "How long the job that waits the longest was made ago; 0: none waits.", value=age_s
    )
    fires = CounterMetricFamily("xetune_schedule_fires", "Due times of schedules by outcome.", labels=["outcome"])
    for outcome in FIRE_OUTCOMES:
        fires.add_metric([outcome], snapshot.fires.get(outcome, 0))
    yield fires
    best = GaugeMetricFamily(
        "xetune_best_tflops",
        "The highest TFLOP/s that was measured on a device, of any problem.",
        labels=["device", "builtins"],
    )
    for device, label, tflops in snapshot.best:
        best.add_metric([device, label], tflops)
    yield best


def _trial_families(trials: TrialTotals) -> Iterator[Metric]:
    outcomes = CounterMetricFamily("xetune_trials", "Trials that ended, by outcome.", labels=["outcome"])
    for status in TRIAL_STATUSES:
        if status != "pending":
            outcomes.add_metric([status], trials.ended.get(status, 0))
    yield outcomes
    yield CounterMetricFamily(
        "xetune_trials_reused", "Measured trials that took a known time instead of a new one.", value=trials.reused
    )
    for phase, durations in trials.phases.items():
        numbers = [*zip(map(str, BUCKETS_S), durations.at_most, strict=True), ("+Inf", durations.number)]
        yield HistogramMetricFamily(
            f"xetune_trial_{phase}_seconds", _PHASES[phase], buckets=numbers, sum_value=durations.sum_s
        )


def _cache_family(tallied: dict[Tallied, int]) -> Metric:
    uses = CounterMetricFamily(
        "xetune_compile_cache", "Kernels of jobs that the compile cache had or had not.", labels=["result"]
    )
    uses.add_metric(["hit"], tallied[Tallied.COMPILE_CACHE_HITS])
    uses.add_metric(["miss"], tallied[Tallied.COMPILE_CACHE_MISSES])
    return uses


_PHASES = {
    "compile": "Time that a trial waited for its kernel to be compiled.",
    "verify": "Time that verifying the result of a trial took.",
    "measure": "Time that the measurement of a trial took.",
}


def _presence_families(snapshot: _Snapshot) -> Iterator[Metric]:
    seen = GaugeMetricFamily(
        "xetune_seen_timestamp_seconds",
        "When a process last said that it is there; one that ended in order is left out.",
        labels=["role", "host", "name"],
    )
    for presence in snapshot.present:
        seen.add_metric([presence.role, presence.host, presence.name], presence.seen_at.timestamp())
    yield seen
