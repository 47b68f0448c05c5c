"""A worker runs each job once, keeps its lease, records failures typed, and puts unfinished jobs back."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from codegen import CompileCrashed
from db.queries import leases
from db.schema.base import utc_now
from db.session import Database, open_database
from service.artifacts import StorageFull
from service.http.deps import Context
from service.jobs.local_devices import DevicesHere
from service.jobs.worker import (
    MAX_ATTEMPTS,
    ClaimedJob,
    JobEnd,
    Worker,
    stop_on_signals,
)
from service.settings import Settings
from tests.db.rows import add_job
from tests.service.rest import BODY, PROBLEM, invented_devices, post_job, row_of


@pytest.fixture
def make(context: Context, settings: Settings) -> Callable[..., Worker]:
    """Makes a worker of the service's database from what it does with a job."""

    def made(run_job: Callable[[ClaimedJob, threading.Event], JobEnd], **changes: object) -> Worker:
        return Worker(context.database, settings.model_copy(update=changes), run_job)

    return made


def shown(client: TestClient, job_id: UUID) -> tuple[str, str | None]:
    """Status and error of a job."""
    job = client.get(f"/v1/jobs/{job_id}").json()
    return job["status"], job["error"]


def test_a_job_is_run_with_what_was_asked(client: TestClient, make: Callable[..., Worker]) -> None:
    got: list[ClaimedJob] = []

    def run_job(job: ClaimedJob, _stop: threading.Event) -> JobEnd:
        got.append(job)
        return JobEnd.SUCCEEDED

    job_id = post_job(client)
    worker = make(run_job)
    assert worker.run_next()
    assert not worker.run_next()
    (job,) = got
    assert (job.id, job.worker, job.seed) == (job_id, worker.name, BODY["seed"])
    assert (job.budget_trials, job.budget_seconds) == (20, 60.0)
    assert (job.problem.m, job.problem.n, job.problem.k) == tuple(PROBLEM.values())
    assert (job.device.id, job.device.target) == ("b580", "bmg")
    assert shown(client, job_id) == ("succeeded", None)


@pytest.mark.parametrize(
    ("error", "recorded"),
    [
        (CompileCrashed("spirv", "it died"), "compile-crashed: stage spirv: it died"),
        (ZeroDivisionError("oops"), "internal: ZeroDivisionError: oops"),
    ],
)
def test_a_failure_is_recorded_with_its_kind_and_the_worker_goes_on(
    client: TestClient, make: Callable[..., Worker], error: Exception, recorded: str
) -> None:
    failing, other = post_job(client, seed=1), post_job(client, seed=2)

    def run_job(job: ClaimedJob, _stop: threading.Event) -> JobEnd:
        if job.seed == 1:
            raise error
        return JobEnd.CANCELLED

    worker = make(run_job)
    assert worker.run_next()
    assert worker.run_next()
    assert shown(client, failing) == ("failed", recorded)
    assert shown(client, other) == ("cancelled", None)


def test_without_room_for_artifacts_the_job_waits_and_goes_on(client: TestClient, make: Callable[..., Worker]) -> None:
    job_id = post_job(client)

    def run_job(_job: ClaimedJob, _stop: threading.Event) -> JobEnd:
        raise StorageFull("no room")

    with pytest.raises(StorageFull):
        make(run_job).run_next()
    assert shown(client, job_id) == ("queued", None)
    assert make(lambda _job, _stop: JobEnd.SUCCEEDED).run_next()
    assert shown(client, job_id) == ("succeeded", None)


def test_stopping_puts_the_job_back_for_the_next_start(client: TestClient, make: Callable[..., Worker]) -> None:
    job_id = post_job(client)
    running = threading.Event()

    def run_job(_job: ClaimedJob, stop: threading.Event) -> JobEnd:
        running.set()
        assert stop.wait(10)
        return JobEnd.INTERRUPTED

    worker = make(run_job, worker_poll_s=0.01)
    thread = threading.Thread(target=worker.run)
    thread.start()
    assert running.wait(10)
    assert shown(client, job_id) == ("running", None)
    worker.stop()
    thread.join(10)
    assert not thread.is_alive()
    assert shown(client, job_id) == ("queued", None)
    assert make(lambda _job, _stop: JobEnd.SUCCEEDED).run_next()
    assert client.get(f"/v1/jobs/{job_id}").json()["attempts"] == 2


def test_the_lease_is_kept_alive_while_a_job_runs(
    client: TestClient, context: Context, make: Callable[..., Worker]
) -> None:
    job_id = post_job(client)

    def run_job(_job: ClaimedJob, _stop: threading.Event) -> JobEnd:
        first = lease(context.database, job_id)
        for _ in range(500):
            if lease(context.database, job_id) > first:
                return JobEnd.SUCCEEDED
            threading.Event().wait(0.01)
        return JobEnd.CANCELLED

    make(run_job, lease_s=0.4).run_next()
    assert shown(client, job_id) == ("succeeded", None)


def lease(database: Database, job_id: UUID) -> object:
    """When the lease of a job runs out."""
    with database.read() as session:
        return row_of(session, job_id).lease_until


def test_a_job_that_another_took_over_is_left_to_it(
    client: TestClient, context: Context, make: Callable[..., Worker]
) -> None:
    job_id = post_job(client)

    def run_job(_job: ClaimedJob, stop: threading.Event) -> JobEnd:
        with context.database.write() as session:
            later = utc_now() + timedelta(hours=1)
            assert leases.claim(session, job_id, "elsewhere/1/1", 7200.0, now=later) is not None
        assert stop.wait(10), "the heartbeat did not notice"
        return JobEnd.SUCCEEDED

    assert make(run_job, lease_s=0.1).run_next()
    with context.database.read() as session:
        assert row_of(session, job_id).worker == "elsewhere/1/1"
    assert shown(client, job_id) == ("running", None)


def test_what_a_dead_worker_of_this_host_held_is_taken_over_at_once(
    client: TestClient, context: Context, make: Callable[..., Worker]
) -> None:
    dead, foreign = post_job(client, seed=1), post_job(client, seed=2)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        host = make(lambda _job, _stop: JobEnd.SUCCEEDED)
        before = f"{host.name.rsplit('/', 2)[0]}/{child.pid}/1"  # another process had that number before
        with context.database.write() as session:
            leases.claim(session, dead, before, 600.0)
            leases.claim(session, foreign, "elsewhere/1/1.00", 600.0)
        assert host.run_next()
        assert not host.run_next()
        child.communicate(b"\n")
    assert shown(client, dead) == ("succeeded", None)
    assert shown(client, foreign) == ("running", None)


def test_a_live_worker_of_this_host_keeps_its_job(client: TestClient, make: Callable[..., Worker]) -> None:
    post_job(client)
    other = make(lambda _job, _stop: JobEnd.SUCCEEDED)
    other.name = "host/elsewhere/1/1"

    def run_job(_job: ClaimedJob, _stop: threading.Event) -> JobEnd:
        assert not other.run_next()
        return JobEnd.SUCCEEDED

    assert make(run_job).run_next()


def test_a_job_that_never_ends_well_is_given_up(
    client: TestClient, context: Context, make: Callable[..., Worker]
) -> None:
    job_id = post_job(client)
    with context.database.write() as session:
        for _ in range(MAX_ATTEMPTS):
            leases.claim(session, job_id, "w", 60.0)
            leases.release(session, job_id, "w")
    make(lambda _job, _stop: JobEnd.SUCCEEDED).run_next()
    status, error = shown(client, job_id)
    assert (status, (error or "").partition(":")[0]) == ("failed", "too-many-attempts")


def test_a_job_that_was_asked_to_stop_while_nobody_ran_it_is_cancelled(
    client: TestClient, context: Context, make: Callable[..., Worker]
) -> None:
    job_id = post_job(client)
    with context.database.write() as session:
        leases.claim(session, job_id, "w", -1.0)
    client.post(f"/v1/jobs/{job_id}/cancel")
    make(lambda _job, _stop: pytest.fail("it was run")).run_next()
    assert shown(client, job_id) == ("cancelled", None)


def test_sigterm_stops_the_worker(make: Callable[..., Worker]) -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    worker = make(lambda _job, _stop: JobEnd.SUCCEEDED, worker_poll_s=30.0)
    try:
        stop_on_signals(worker)
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGTERM)).start()
        worker.run()
    finally:
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGINT, before[1])


def test_a_database_that_does_not_answer_is_waited_for(make: Callable[..., Worker], tmp_path: Path) -> None:
    worker = make(lambda _job, _stop: JobEnd.SUCCEEDED, worker_poll_s=0.01)
    looks: list[int] = []
    real = worker.run_next

    def run_next() -> bool:
        looks.append(1)
        if len(looks) > 2:
            worker.stop()
        return real()

    object.__setattr__(worker, "_database", open_database(f"sqlite:///{tmp_path}/nowhere/x.sqlite"))
    object.__setattr__(worker, "run_next", run_next)
    worker.run()
    assert len(looks) == 3


def test_a_job_for_a_device_of_another_machine_is_left_to_it(client: TestClient, context: Context) -> None:
    with context.database.write() as session:
        elsewhere = add_job(session, "b60").id  # with a driver: it was there when it was asked for
    predicted = post_job(client)  # of the table, without a driver
    ran: list[UUID] = []
    here = {"opencl-cpu"}

    def run_job(job: ClaimedJob, _stop: threading.Event) -> JobEnd:
        ran.append(job.id)
        return JobEnd.SUCCEEDED

    worker = Worker(context.database, context.settings, run_job, lambda: here)
    assert worker.run_next()
    assert not worker.run_next()
    assert ran == [predicted]
    assert shown_status(context, elsewhere) == "queued"


def shown_status(context: Context, job_id: UUID) -> str:
    """Status of a job's row."""
    with context.database.read() as session:
        return row_of(session, job_id).status


def test_what_is_here_is_looked_up_once_a_minute_with_the_stand_ins() -> None:
    now, listings = [100.0], [invented_devices(), []]
    here = DevicesHere(lambda: listings.pop(0), lambda: now[0])
    assert {"opencl-cpu", "opencl-cpu-as-b580"} <= here()
    assert "b580" not in here()
    now[0] += 60.0
    assert here() == frozenset()
