"""A job of a set of shapes is run with its lease extended, until another takes it over or a signal ends it."""

import os
import signal
import threading
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from fastapi.testclient import TestClient

from db.queries.cluster import leases
from db.values import utc_now
from service.http.context import Context
from service.jobs.job_runs import ClaimedJob, JobEnd
from service.jobs.worker import Worker, stop_on_signals
from service.settings import Settings
from tests.service.cluster.job_loop import coordinator
from tests.service.rest import post_job, row_of

Make = Callable[..., Worker]


@pytest.fixture
def make(context: Context, settings: Settings) -> Make:
    """Makes a worker of the service's database."""

    def made(**changes: object) -> Worker:
        return Worker(context.database, settings.model_copy(update=changes), threading.Event())

    return made


def test_the_lease_is_kept_alive_while_a_job_runs(client: TestClient, context: Context, make: Make) -> None:
    job_id = post_job(client)

    def lease() -> datetime:
        with context.database.read() as session:
            until = row_of(session, job_id).lease_until
        assert until is not None
        return until

    def run_job(_job: ClaimedJob, _interrupt: threading.Event) -> JobEnd:
        first = lease()
        for _ in range(500):
            if lease() > first:
                return JobEnd.SUCCEEDED
            threading.Event().wait(0.01)
        return JobEnd.CANCELLED

    worker = make(lease_s=0.4)
    assert worker.run_one(job_id, run_job)
    assert client.get(f"/v1/jobs/{job_id}").json()["status"] == "succeeded"
    assert not worker.run_one(job_id, run_job)


def test_a_job_that_another_took_over_is_left_to_it(client: TestClient, context: Context, make: Make) -> None:
    job_id = post_job(client)

    def run_job(_job: ClaimedJob, interrupt: threading.Event) -> JobEnd:
        with context.database.write() as session:
            later = utc_now() + timedelta(hours=1)
            assert leases.claim(session, job_id, "elsewhere/1/1", 7200.0, now=later) is not None
        assert interrupt.wait(10), "the heartbeat did not notice"
        return JobEnd.SUCCEEDED

    assert make(lease_s=0.1).run_one(job_id, run_job)
    with context.database.read() as session:
        assert row_of(session, job_id).worker == "elsewhere/1/1"
    assert client.get(f"/v1/jobs/{job_id}").json()["status"] == "running"


def test_sigterm_stops_the_coordinator(context: Context, settings: Settings) -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    idle = coordinator(
        context.database, settings.model_copy(update={"worker_poll_s": 30.0}), lambda *_: lambda *_: JobEnd.SUCCEEDED
    )
    try:
        stop_on_signals(idle)
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGTERM)).start()
        idle.run()
    finally:
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGINT, before[1])
