"""A machine of a cluster ends within its time, and what it does for a job is part of the job's trace."""

import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from db.queries.results import trials
from db.session import Database
from hal import Buffer
from service.artifacts import ArtifactStore
from service.cluster.coordinator import Coordinator
from service.cluster.executor import (
    Executor,
    ExecutorLost,
)
from service.jobs.job_runs import RunJob
from service.jobs.tuning import Tuning
from service.settings import Settings
from tests.faults.jobs import SPEC, TRIALS, check_whole, ended, job_of, queue
from tests.service.cluster.dask.test_engine import WAIT_S, Hooked, at, cluster, start, until
from tests.service.cluster.dask_cluster import Cluster
from tests.service.telemetry.test_traces import spans
from tests.tuner.fakes import SMALL
from tuner.verify.reference import Reference

__all__ = ["cluster", "spans", "start"]


ON_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)  # no query of its own is tried here


class Gate:
    """Holds what passes until it is opened."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def pass_through(self) -> None:
        self.reached.set()
        assert self.opened.wait(WAIT_S)


@pytest.fixture
def gate() -> Generator[Gate]:
    """One that is open in the end."""
    made = Gate()
    yield made
    made.opened.set()


@pytest.fixture
def held(gate: Gate) -> Hooked:
    """A device whose launches wait at the gate."""
    device = Hooked(SMALL, SPEC)
    device.before = gate.pass_through
    return device


def buffers() -> tuple[Buffer, ...]:
    return Reference(SMALL, 7).buffers()


def place_of(cluster: Cluster) -> tuple[Executor, Callable[[], None]]:
    """The device of the one worker, and what closes its engine."""
    engine = cluster.engine()
    until(lambda: len(engine.executors()) == 2)
    return next(executor for executor in engine.executors() if not executor.predicts), engine.close


def test_what_runs_when_a_machine_is_stopped_ends_and_is_fetched(
    cluster: Cluster, start: Callable[..., str], gate: Gate, held: Hooked
) -> None:
    start("w1", device=held)
    executor, close = place_of(cluster)
    with ThreadPoolExecutor(2) as pool:
        launched = pool.submit(at, executor, buffers())
        assert gate.reached.wait(WAIT_S)
        left = pool.submit(cluster.leave_worker, "w1", WAIT_S)
        time.sleep(0.2)
        assert not left.done()
        gate.opened.set()
        assert launched.result(WAIT_S).outputs[2].shape == (SMALL.m * SMALL.n,)
        left.result(WAIT_S)
    assert len(held.runs) == 1
    close()


def test_what_outlasts_the_time_is_left_and_its_place_is_lost(
    cluster: Cluster, start: Callable[..., str], gate: Gate, held: Hooked
) -> None:
    start("w1", device=held)
    executor, close = place_of(cluster)
    with ThreadPoolExecutor(1) as pool:
        launched = pool.submit(at, executor, buffers())
        assert gate.reached.wait(WAIT_S)
        cluster.leave_worker("w1", 0.1)
        with pytest.raises(ExecutorLost):
            launched.result(WAIT_S)
    close()


@pytest.mark.slow
@ON_SQLITE
def test_a_job_whose_machine_is_stopped_in_a_trial_loses_and_doubles_none(
    cluster: Cluster, start: Callable[..., str], gate: Gate, database: Database, tmp_path: Path
) -> None:
    """The launch of the third trial outlasts the time."""
    job_id, device = queue(database), Hooked(SMALL, SPEC)

    def hold() -> None:
        if len(ended(database, job_id)) == 2:
            gate.pass_through()

    device.before = hold
    start("w1", device=device)
    run = Job(cluster, database, tmp_path)
    try:
        assert gate.reached.wait(WAIT_S)
        before = ended(database, job_id)
        cluster.leave_worker("w1", 0.1)
        start("w2")
        until(lambda: job_of(database, job_id).status not in ("queued", "running"))
        gate.opened.set()  # what the machine still did is nobody's any more
    finally:
        run.stop()
    check_whole(database, job_id, ArtifactStore(tmp_path / "artifacts"))
    assert {number: ended(database, job_id)[number] for number in before} == before
    with database.read() as session:
        assert len(trials.list_page(session, job_id)) == TRIALS


@ON_SQLITE
@pytest.mark.slow
def test_what_machines_do_for_a_job_is_in_its_trace(
    cluster: Cluster, start: Callable[..., str], spans: InMemorySpanExporter, database: Database, tmp_path: Path
) -> None:
    job_id = queue(database)
    start("w1")
    run = Job(cluster, database, tmp_path)
    try:
        until(lambda: job_of(database, job_id).status == "succeeded")
    finally:
        run.stop()
    found = spans.get_finished_spans()
    (job,) = [span for span in found if span.name == "job"]
    remote = [span for span in found if span.name.startswith("remote ")]
    assert {span.name for span in remote} >= {"remote compile", "remote verify"}
    for span in remote:
        assert span.parent is not None and job.context is not None and span.attributes is not None  # noqa: PT018
        assert span.parent.span_id == job.context.span_id
        assert span.attributes["xetune.host"] == "host of w1"


class Job:
    """A coordinator of the cluster, in a thread."""

    def __init__(self, cluster: Cluster, database: Database, folder: Path) -> None:
        self._engine = cluster.engine()

        def run_at(fenced: Database, executor: Executor) -> RunJob:
            return Tuning(fenced, ArtifactStore(folder / "artifacts"), folder / "cache", executor=executor).run

        settings = Settings(data_dir=folder, worker_poll_s=0.1)
        self._coordinator = Coordinator(database, settings, self._engine, run_at)
        self._thread = threading.Thread(target=self._coordinator.run)
        self._thread.start()

    def stop(self) -> None:
        self._coordinator.stop()
        self._thread.join(WAIT_S)
        self._engine.close()
