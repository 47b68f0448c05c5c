"""No job begins in a window of maintenance, one that runs makes way, and all go on after it."""

import threading
from datetime import datetime, timedelta

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from db.queries import (
    leases,
    maintenance,
)
from db.schema import MaintenanceWindow
from db.schema.base import utc_now
from db.session import Database
from service.api.maintenance.closed import (
    check_open,
    closed_devices,
    closures,
    open_until,
)
from service.cli.main import app as command_line
from service.errors import Conflict
from service.http.deps import Context
from service.jobs.worker import (
    ClaimedJob,
    JobEnd,
    Worker,
)
from service.settings import Settings
from tests.db import rows
from tests.service.rest import Clock, post_job
from tests.service.schedules.test_schedules import post

FRIDAYS = {"name": "drivers", "device": "b580", "cron": "0 22 * * fri", "timezone": "Europe/Warsaw", "duration_s": 7200}


def window(**values: object) -> MaintenanceWindow:
    """A window; as FRIDAYS unless said."""
    return MaintenanceWindow(**(FRIDAYS | values))


@pytest.mark.parametrize(
    ("moment", "until"),
    [
        ("2026-03-06T20:59:59Z", None),
        ("2026-03-06T21:00:00Z", "2026-03-06T23:00:00Z"),
        ("2026-03-06T22:59:59Z", "2026-03-06T23:00:00Z"),
        ("2026-03-06T23:00:00Z", None),
        ("2026-07-03T20:30:00Z", "2026-07-03T22:00:00Z"),  # summer time
    ],
)
def test_a_window_that_recurs_is_open_from_its_begin_until_its_end(moment: str, until: str | None) -> None:
    expected = None if until is None else datetime.fromisoformat(until)
    assert open_until(window(), datetime.fromisoformat(moment)) == expected


def test_a_window_that_lasts_over_a_change_of_the_clock_keeps_its_length() -> None:
    night = window(cron="0 1 * * sun", duration_s=3 * 3600)  # 02:00 to 03:00 does not exist on 29 March
    begin = datetime.fromisoformat("2026-03-29T00:00:00Z")
    assert open_until(night, begin + timedelta(hours=2.9)) == begin + timedelta(hours=3)
    assert open_until(night, begin + timedelta(hours=3)) is None


def test_windows_are_made_listed_and_removed_over_rest(client: TestClient, clock: Clock) -> None:
    made = client.post("/v1/maintenance", json=FRIDAYS)
    assert made.status_code == 201
    assert client.get(made.headers["location"]).json() == made.json()
    once = {"name": "power", "starts_at": "2026-03-04T12:00:00Z", "ends_at": "2026-03-04T13:00:00Z"}
    assert client.post("/v1/maintenance", json=once).json()["open_until"] == "2026-03-04T13:00:00Z"
    assert [w["name"] for w in client.get("/v1/maintenance").json()["windows"]] == ["drivers", "power"]
    assert client.post("/v1/maintenance", json=once).json()["rule"] == "unique-name"
    assert client.delete(made.headers["location"]).status_code == 204
    assert client.delete(made.headers["location"]).status_code == 404


@pytest.mark.parametrize(
    ("change", "status", "rule"),
    [
        ({"duration_s": None}, 400, "window"),
        ({"duration_s": 10}, 422, None),
        ({"starts_at": "2026-03-06T22:00:00Z"}, 400, "window"),
        ({"cron": "61 * * * *"}, 400, "cron"),
        ({"timezone": "Mars/Base"}, 400, "timezone"),
        ({"cron": None, "timezone": None, "duration_s": None}, 400, "window"),
    ],
)
def test_windows_that_cannot_be_meant_are_refused(
    client: TestClient, change: dict[str, object], status: int, rule: str | None
) -> None:
    answer = client.post("/v1/maintenance", json=FRIDAYS | change)
    assert (answer.status_code, rule) == (status, rule if rule is None else answer.json()["rule"])


def test_a_window_is_changed_and_keeps_its_id(client: TestClient) -> None:
    made = client.post("/v1/maintenance", json=FRIDAYS).json()
    assert made["opens_at"] == "2026-03-06T21:00:00Z"
    client.post("/v1/maintenance", json=FRIDAYS | {"name": "power"})
    once = {"name": "drivers", "starts_at": "2026-03-04T12:00:00Z", "ends_at": "2026-03-04T13:00:00Z"}
    changed = client.put(f"/v1/maintenance/{made['id']}", json=once)
    assert changed.status_code == 200
    assert changed.json() == client.get(f"/v1/maintenance/{made['id']}").json()
    assert (changed.json()["device"], changed.json()["cron"], changed.json()["opens_at"]) == (None, None, None)
    assert changed.json()["open_until"] == "2026-03-04T13:00:00Z"
    for body, status in ((FRIDAYS | {"name": "power"}, 409), (FRIDAYS | {"cron": "0 0 30 2 *"}, 400)):
        assert client.put(f"/v1/maintenance/{made['id']}", json=body).status_code == status
    assert client.put("/v1/maintenance/01970a3c-0000-7000-8000-000000000000", json=FRIDAYS).status_code == 404


def test_a_window_that_is_over_is_refused(client: TestClient) -> None:
    past = {"name": "power", "starts_at": "2026-03-01T12:00:00Z", "ends_at": "2026-03-01T13:00:00Z"}
    refused = client.post("/v1/maintenance", json=past).json()
    assert (refused["rule"], refused["errors"][0]["rule"]) == ("window", "window")


def open_now(database: Database, device: str | None) -> None:
    """Open a window of an hour."""
    at = utc_now()
    with database.write() as session:
        once = {"cron": None, "timezone": None, "duration_s": None, "starts_at": at, "ends_at": at + timedelta(hours=1)}
        maintenance.add(session, window(device=device, **once))


def test_jobs_for_a_closed_device_wait_and_others_are_claimed(database: Database) -> None:
    with database.write() as session:
        rows.add_job(session, "b580")
        other = rows.add_job(session, "b570").id
    open_now(database, "b580")
    with database.write() as session:
        closed = closed_devices(closures(session, utc_now()))
        assert closed is not None
        assert closed == {"b580"}
        job = leases.claim_next(session, "w", 60.0, closed=closed)
        assert job is not None
        assert job.id == other
        assert leases.claim_next(session, "w", 60.0, closed=closed) is None
        assert leases.claim_next(session, "w", 60.0) is not None


def test_the_cpus_driver_takes_along_what_it_stands_in_for(database: Database) -> None:
    open_now(database, "opencl-cpu")
    with database.read() as session:
        closed = closed_devices(closures(session, utc_now()))
        assert closed is not None
        assert {"opencl-cpu", "opencl-cpu-as-b580"} <= closed
        with pytest.raises(Conflict, match="drivers"):
            check_open(session, "opencl-cpu-as-b580", utc_now())
        check_open(session, "b580", utc_now())


@pytest.mark.parametrize("device", [None, "b580"])
def test_a_job_that_runs_is_put_back_at_the_begin_and_none_is_begun(
    client: TestClient, context: Context, settings: Settings, device: str | None
) -> None:
    job_id, database = post_job(client), context.database
    began = threading.Event()

    def run(_job: ClaimedJob, interrupt: threading.Event) -> JobEnd:
        began.set()
        return JobEnd.INTERRUPTED if interrupt.wait(30) else JobEnd.SUCCEEDED

    worker = Worker(database, settings.model_copy(update={"lease_s": 0.2}), run)
    thread = threading.Thread(target=worker.run_next)
    thread.start()
    assert began.wait(30)
    open_now(database, device)
    thread.join(30)
    with database.read() as session:
        job = rows.jobs.get(session, job_id)
        assert job is not None
        assert (job.status, job.worker) == ("queued", None)
    assert worker.run_next() is False


def test_the_next_times_say_what_their_work_waits_for(client: TestClient, context: Context, clock: Clock) -> None:
    made = post(client, cron="0 22 * * *", timezone="Europe/Warsaw")
    assert client.post("/v1/maintenance", json=FRIDAYS).status_code == 201
    assert client.post("/v1/maintenance", json=FRIDAYS | {"name": "b", "device": "b570"}).status_code == 201
    due = client.get(f"/v1/schedules/{made['id']}/next", params={"count": 3}).json()["due"]
    assert [each["waits_until"] for each in due] == [None, None, "2026-03-06T23:00:00Z"]


def test_schedules_and_windows_are_run_from_the_command_line(
    sqlite_url: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XETUNE_DATABASE_URL", sqlite_url)
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path))
    runner = CliRunner()

    def said(*arguments: str) -> str:
        result = runner.invoke(command_line, list(arguments))
        assert result.exit_code == 0, (result.output, result.exception)
        return result.output

    assert "No schedule yet" in said("schedules")
    assert "first run" in said("schedules", "create", "nightly", "--cron", "30 2 * * *", "--stale", "5")
    assert "paused" in said("schedules", "pause", "nightly")
    assert "never" in said("schedules", "next", "nightly")
    assert "next run" in said("schedules", "resume", "nightly")
    assert said("schedules", "next", "nightly", "--count", "3").count("02:30:00 +0000") == 3
    assert "nothing" in said("schedules", "run", "nightly")
    assert "by hand" in said("schedules", "history", "nightly")
    assert "30 2 * * *" in said("schedules")
    assert "open until" not in said("maintenance", "create", "w", "--cron", "0 22 * * fri", "--minutes", "90")
    assert "90 minutes" in said("maintenance")
    assert "deleted" in said("maintenance", "delete", "w")
    assert "deleted" in said("schedules", "delete", "nightly")
    assert [line for line in said("audit").splitlines() if "schedule.run" in line]
    refused = runner.invoke(command_line, ["schedules", "create", "x", "--cron", "* * * *", "--stale", "5"])
    assert "five fields" in str(refused.exception)
    neither = runner.invoke(command_line, ["schedules", "create", "x", "--cron", "0 0 * * *"])
    assert "exactly one of job, shapes and stale" in str(neither.exception)
