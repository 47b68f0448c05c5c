"""The coordinator of one machine runs each job once, records failures typed, and puts unfinished jobs back."""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from codegen import CompileCrashed
from db.queries.cluster import leases
from db.session import open_database
from service.artifacts import StorageFull
from service.cluster import coordinator as coordinators
from service.cluster.local import LocalExecutor
from service.http.context import Context
from service.jobs.job_runs import MAX_ATTEMPTS, ClaimedJob, JobEnd, RunJob
from service.jobs.worker_names import own_name
from service.settings import Settings
from tests.db.rows import add_job
from tests.service.cluster.job_loop import coordinator, run_jobs
from tests.service.rest import BODY, PROBLEM, post_job, row_of

Run = Callable[..., int]


@pytest.fixture
def run(context: Context, settings: Settings) -> Run:
    """Runs the jobs that wait in the service's database; returns how many were claimed."""

    def of(run_job: RunJob, **more: Any) -> int:
        return run_jobs(context.database, settings, lambda *_: run_job, **more)

    return of


def succeed(_job: ClaimedJob, _interrupt: threading.Event) -> JobEnd:
    """Do nothing, well."""
    return JobEnd.SUCCEEDED


def shown(client: TestClient, job_id: UUID) -> tuple[str, str | None]:
    """Status and error of a job."""
    job = client.get(f"/v1/jobs/{job_id}").json()
    return job["status"], job["error"]


def test_a_job_is_run_once_with_what_was_asked(client: TestClient, run: Run) -> None:
    got: list[ClaimedJob] = []

    def run_job(job: ClaimedJob, _interrupt: threading.Event) -> JobEnd:
        got.append(job)
        return JobEnd.SUCCEEDED

    job_id = post_job(client)
    assert run(run_job) == 1
    (job,) = got
    assert (job.id, job.worker, job.spec.seed) == (job_id, own_name(), BODY["seed"])
    assert (job.spec.budget.trials, job.spec.budget.seconds) == (20, 60.0)
    assert (job.spec.problem.m, job.spec.problem.n, job.spec.problem.k) == tuple(PROBLEM.values())
    assert (job.spec.device.id, job.spec.device.target) == ("b580", "bmg")
    assert shown(client, job_id) == ("succeeded", None)


@pytest.mark.parametrize(
    ("error", "recorded"),
    [
        (CompileCrashed("spirv", "it died"), "compile-crashed: stage spirv: it died"),
        (ZeroDivisionError("oops"), "internal: ZeroDivisionError: oops"),
    ],
)
def test_a_failure_is_recorded_with_its_kind_and_the_next_job_is_run(
    client: TestClient, run: Run, error: Exception, recorded: str
) -> None:
    failing, other = post_job(client, seed=1), post_job(client, seed=2)

    def run_job(job: ClaimedJob, _interrupt: threading.Event) -> JobEnd:
        if job.spec.seed == 1:
            raise error
        return JobEnd.CANCELLED

    assert run(run_job) == 2
    assert shown(client, failing) == ("failed", recorded)
    assert shown(client, other) == ("cancelled", None)


def test_without_room_for_artifacts_the_job_waits_and_goes_on(
    client: TestClient, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coordinators, "STORAGE_WAIT_S", 0.0)
    job_id, found = post_job(client), list[tuple[str, str | None]]()

    def run_job(_job: ClaimedJob, _interrupt: threading.Event) -> JobEnd:
        found.append(shown(client, job_id))
        if len(found) == 1:
            raise StorageFull("no room")
        return JobEnd.SUCCEEDED

    assert run(run_job) == 2
    assert shown(client, job_id) == ("succeeded", None)


def test_stopping_puts_the_job_back_for_the_next_start(
    client: TestClient, context: Context, settings: Settings, run: Run
) -> None:
    job_id = post_job(client)
    running = threading.Event()

    def run_job(_job: ClaimedJob, interrupt: threading.Event) -> JobEnd:
        running.set()
        assert interrupt.wait(10)
        return JobEnd.INTERRUPTED

    stopped = coordinator(context.database, settings, lambda *_: run_job)
    thread = threading.Thread(target=stopped.run)
    thread.start()
    assert running.wait(10)
    assert shown(client, job_id) == ("running", None)
    stopped.stop()
    thread.join(10)
    assert not thread.is_alive()
    assert shown(client, job_id) == ("queued", None)
    assert run(succeed) == 1
    assert client.get(f"/v1/jobs/{job_id}").json()["attempts"] == 2


def test_what_a_dead_worker_of_this_host_held_is_taken_over_at_once(
    client: TestClient, context: Context, run: Run
) -> None:
    dead, foreign = post_job(client, seed=1), post_job(client, seed=2)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        before = f"{own_name().rsplit('/', 2)[0]}/{child.pid}/1"  # another process had that number before
        with context.database.write() as session:
            leases.claim(session, dead, before, 600.0)
            leases.claim(session, foreign, "elsewhere/1/1.00", 600.0)
        assert run(succeed) == 1
        child.communicate(b"\n")
    assert shown(client, dead) == ("succeeded", None)
    assert shown(client, foreign) == ("running", None)


def test_a_live_worker_keeps_its_job(client: TestClient, run: Run) -> None:
    post_job(client)

    def run_job(_job: ClaimedJob, _interrupt: threading.Event) -> JobEnd:
        assert run(succeed, holder="another machine") == 0
        return JobEnd.SUCCEEDED

    assert run(run_job) == 1


def test_a_job_that_never_ends_well_is_given_up(client: TestClient, context: Context, run: Run) -> None:
    job_id = post_job(client)
    with context.database.write() as session:
        for _ in range(MAX_ATTEMPTS):
            leases.claim(session, job_id, "w", 60.0)
            leases.release(session, job_id, "w")
    assert run(succeed) == 1
    status, error = shown(client, job_id)
    assert (status, (error or "").partition(":")[0]) == ("failed", "too-many-attempts")


def test_a_job_that_was_asked_to_stop_while_nobody_ran_it_is_cancelled(
    client: TestClient, context: Context, run: Run
) -> None:
    job_id = post_job(client)
    with context.database.write() as session:
        leases.claim(session, job_id, "w", -1.0)
    client.post(f"/v1/jobs/{job_id}/cancel")
    assert run(lambda *_: pytest.fail("it was run")) == 1
    assert shown(client, job_id) == ("cancelled", None)


def test_a_database_that_does_not_answer_is_waited_for(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = open_database(f"sqlite:///{tmp_path}/nowhere/x.sqlite")
    waits = coordinator(away, settings.model_copy(update={"worker_poll_s": 0.01}), lambda *_: succeed)
    looks: list[int] = []

    def own_acquire() -> object:
        looks.append(1)
        if len(looks) == 3:
            waits.stop()
        return acquire()

    acquire = waits._acquire
    monkeypatch.setattr(waits, "_acquire", own_acquire)
    waits.run()
    assert len(looks) == 3


def test_a_job_for_a_device_of_another_machine_is_left_to_it(client: TestClient, context: Context, run: Run) -> None:
    with context.database.write() as session:
        elsewhere = add_job(session, "b60").id  # with a driver: it was there when it was asked for
    predicted = post_job(client)  # of the table, without a driver
    ran: list[UUID] = []

    def run_job(job: ClaimedJob, _interrupt: threading.Event) -> JobEnd:
        ran.append(job.id)
        return JobEnd.SUCCEEDED

    assert run(run_job, executor=LocalExecutor(here=lambda: {"opencl-cpu"})) == 1
    assert ran == [predicted]
    with context.database.read() as session:
        assert row_of(session, elsewhere).status == "queued"


def test_a_job_that_a_newer_version_stored_is_refused_by_name(client: TestClient, context: Context, run: Run) -> None:
    job_id = post_job(client)
    with context.database.write() as session:
        device = row_of(session, job_id).device
        device.spec = device.spec | {"colour": "blue"}
    run(succeed)
    status, error = shown(client, job_id)
    assert status == "failed"
    assert error == (
        f"other-version: another version of this program stored job {job_id} (device.colour: unknown field): restart "
        "the service and its workers with the newest version"
    )
