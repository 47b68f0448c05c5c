"""A device that keeps failing gets no jobs until it is released or its time is over; others do."""

from datetime import timedelta
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from codegen import GemmProblem
from db.queries import (
    jobs,
    problems,
    quarantines,
)
from db.session import Database, open_database
from db.values import utc_now
from hal import find
from service.api.devices.quarantine import (
    check_free,
    this_host,
)
from service.cluster.local import LocalExecutor
from service.device_json import spec_to_json
from service.errors import Conflict
from service.gemm_json import problem_to_json
from service.http.context import Context
from service.jobs.job_runs import ClaimedJob, JobEnd
from service.settings import Settings
from tests.db import rows
from tests.service.cluster.job_loop import run_jobs
from tuner.errors import DeviceUnusable, NoValidMeasurement


@pytest.fixture
def database(sqlite_url: str) -> Database:
    """A migrated database."""
    return open_database(sqlite_url)


def _run_jobs(database: Database, tmp_path: Path, error: Exception | None = None) -> int:
    def run(_job: ClaimedJob, _stop: object) -> JobEnd:
        if error is not None:
            raise error
        return JobEnd.SUCCEEDED

    here = LocalExecutor(here=lambda: {"b580", "b570"})
    return run_jobs(database, Settings(data_dir=tmp_path, quarantine_s=900), lambda *_: run, here)


def _job(database: Database, device: str) -> object:
    """A queued job for a GPU that is here: its driver is known."""
    with database.write() as session:
        problem = GemmProblem(96, 64, 128)
        key = problems.upsert(session, key=problem.key, definition=problem_to_json(problem)).id
        job = rows.add_job(session, device, problem_id=key)
        job.device.spec = spec_to_json(find(device))
        return job.id


def test_a_device_that_keeps_failing_gets_no_further_jobs_and_others_do(database: Database, tmp_path: Path) -> None:
    failed, waits = _job(database, "b580"), _job(database, "b580")
    assert _run_jobs(database, tmp_path, DeviceUnusable("B580 failed 5 times in a row; last: SIGSEGV")) == 1
    other = _job(database, "b570")
    assert _run_jobs(database, tmp_path) == 1
    with database.read() as session:
        ended = {job.id: job.status for job in jobs.list_page(session, limit=9)}
        (kept,) = quarantines.active(session)
    assert ended == {failed: "failed", waits: "queued", other: "succeeded"}
    assert (kept.host, kept.slug, kept.job_id) == (this_host(), "b580", failed)
    assert kept.reason == "device-unusable: B580 failed 5 times in a row; last: SIGSEGV"
    assert kept.until - kept.since == timedelta(seconds=900)
    with database.write() as session:
        assert quarantines.release(session, "b580") == 1
    assert _run_jobs(database, tmp_path) == 1


def test_what_is_not_the_devices_fault_keeps_it_from_nothing(database: Database, tmp_path: Path) -> None:
    _job(database, "b580")
    assert _run_jobs(database, tmp_path, NoValidMeasurement("none")) == 1
    with database.read() as session:
        assert quarantines.active(session) == []


def test_it_ends_with_its_time_and_is_of_one_host(database: Database) -> None:
    now = utc_now()
    with database.write() as session:
        for host, seconds in ((this_host(), 60), ("another", 600)):
            quarantines.begin(session, host=host, slug="b580", reason="x: y", job_id=None, seconds=seconds, now=now)
        quarantines.begin(session, host="another", slug="b580", reason="x: z", job_id=None, seconds=600.0, now=now)
        hosts = [(row.host, row.reason) for row in quarantines.active(session, now=now + timedelta(seconds=61))]
        assert hosts == [("another", "x: z")]
        assert len(quarantines.active(session, now=now + timedelta(seconds=59))) == 2
        check_free(session, "b570")
        with pytest.raises(Conflict, match=r"b580 on .* gets no jobs until .* \(x: y\); `xetune devices release b580`"):
            check_free(session, "b580")
        assert quarantines.release(session, "b580", this_host()) == 1
        check_free(session, "b580")


def test_rest_lists_and_releases_it(client: TestClient, context: Context) -> None:
    with context.database.write() as session:
        quarantines.begin(session, host="lab-7", slug="b580", reason="device-unusable: x", job_id=None, seconds=60)
    (kept,) = client.get("/v1/devices").json()["quarantined"]
    assert (kept["device"], kept["host"], kept["reason"]) == ("b580", "lab-7", "device-unusable: x")
    assert client.delete("/v1/devices/b580/quarantine").status_code == 204
    assert client.get("/v1/devices").json()["quarantined"] == []
    again = client.delete("/v1/devices/b580/quarantine")
    assert (again.status_code, again.json()["rule"]) == (404, "not-quarantined")
