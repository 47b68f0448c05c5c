"""Schedules fire once for each due time, however many processes look, and jobs come of it."""

import threading
from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient

from db.queries import schedules
from db.schema.schedule import Schedule
from db.session import Database
from service.api.schedules import firing
from service.api.schedules.clock import ScheduleClock
from service.api.schedules.firing import fire_due, realign
from service.app import create_app
from service.http.context import Context
from service.settings import Settings
from tests.service.rest import BODY, Clock, invented_devices, jobs_of

HOURLY = {"name": "hourly", "cron": "0 * * * *", "timezone": "UTC", "job": BODY, "misfire_grace_s": 600}


def post(client: TestClient, **changes: object) -> dict[str, Any]:
    """Create a schedule over REST."""
    answer = client.post("/v1/schedules", json=HOURLY | changes)
    assert answer.status_code == 201, answer.text
    return answer.json()


def outcomes(client: TestClient, schedule: dict[str, object]) -> list[tuple[str, str]]:
    """Due time and outcome of each fire, newest first."""
    fires = client.get(f"/v1/schedules/{schedule['id']}").json()["fires"]
    return [(fire["due_at"], fire["outcome"]) for fire in fires]


def test_a_schedule_shows_its_next_run(client: TestClient) -> None:
    made = post(client, timezone="Asia/Kolkata")
    assert made["next_due_at"] == "2026-03-04T12:30:00Z"
    assert client.get("/v1/schedules").json() == {"schedules": [made]}
    assert client.get(f"/v1/schedules/{made['id']}").json() == made


def test_it_fires_when_due_and_not_before(client: TestClient, context: Context, clock: Clock) -> None:
    made = post(client)
    assert fire_due(context) == 0
    clock.step(hours=1)
    assert fire_due(context) == 1
    assert fire_due(context) == 0
    (job,) = jobs_of(context.database)
    fired = client.get(f"/v1/schedules/{made['id']}").json()
    assert fired["next_due_at"] == "2026-03-04T14:00:00Z"
    assert (fired["fires"][0]["due_at"], fired["fires"][0]["jobs"]) == ("2026-03-04T13:00:00Z", [str(job.id)])
    assert (job.device.slug, job.budget_trials, job.seed) == ("b580", 20, 7)


def test_a_job_that_is_still_active_is_joined(client: TestClient, context: Context, clock: Clock) -> None:
    made = post(client)
    for _ in range(2):
        clock.step(hours=1)
        fire_due(context)
    assert [outcome for _, outcome in outcomes(client, made)] == ["joined", "created"]
    assert len(jobs_of(context.database)) == 1


def test_only_the_latest_missed_run_within_the_grace_fires(client: TestClient, context: Context, clock: Clock) -> None:
    made = post(client, cron="*/5 * * * *", misfire_grace_s=600)
    clock.step(hours=7, minutes=2)  # 19:02:30: 18:55 and 19:00 are within ten minutes
    assert fire_due(context) == 1
    assert outcomes(client, made) == [("2026-03-04T19:00:00Z", "created")]


def test_a_run_missed_by_more_than_the_grace_is_recorded_and_does_not_fire(
    client: TestClient, context: Context, clock: Clock
) -> None:
    made = post(client, misfire_grace_s=600)
    clock.step(hours=7, minutes=30)
    assert fire_due(context) == 1
    assert outcomes(client, made) == [("2026-03-04T13:00:00Z", "missed")]
    assert jobs_of(context.database) == []
    assert client.get(f"/v1/schedules/{made['id']}").json()["next_due_at"] == "2026-03-04T20:00:00Z"


def test_a_device_that_went_away_refuses_the_run_with_the_reason(
    client: TestClient, context: Context, clock: Clock
) -> None:
    made = post(client, job=BODY | {"device": "opencl-cpu"})
    object.__setattr__(context.devices, "_listed", (context.devices._clock(), ()))
    clock.step(hours=1)
    fire_due(context)
    (fire,) = client.get(f"/v1/schedules/{made['id']}").json()["fires"]
    assert (fire["outcome"], fire["jobs"]) == ("refused", [])
    assert "no CPU OpenCL device" in fire["reason"]


def test_a_gpu_that_is_not_here_any_more_and_cannot_be_predicted_refuses_the_run(
    client: TestClient, context: Context, clock: Clock
) -> None:
    made = post(client)
    change(context, made["name"], template=BODY | {"device": "max1350"})
    clock.step(hours=1)
    fire_due(context)
    (fire,) = client.get(f"/v1/schedules/{made['id']}").json()["fires"]
    assert (fire["outcome"], fire["jobs"]) == ("refused", [])
    assert "clock_mhz of Intel Data Center GPU Max 1350, one stack is not known" in fire["reason"]


def change(context: Context, name: str, **values: object) -> None:
    """Put values into a schedule's row that no request can bring there today."""
    with context.database.write() as session:
        row = schedules.by_name(session, name)
        for column, value in values.items():
            setattr(row, column, value)


def test_a_schedule_that_cannot_be_read_stops_itself_and_no_other(
    client: TestClient, context: Context, clock: Clock
) -> None:
    lost, old = post(client, name="lost"), post(client, name="old")
    clock.step(minutes=1)
    good = post(client, name="good")
    change(context, "lost", timezone="Mars/Base")
    change(context, "old", template={"shape": [512, 384, 1024]})
    clock.step(hours=1)
    assert fire_due(context) == 3
    assert outcomes(client, good) == [("2026-03-04T13:00:00Z", "created")]
    lost_now, old_now = (client.get(f"/v1/schedules/{made['id']}").json() for made in (lost, old))
    assert (lost_now["enabled"], lost_now["next_due_at"], lost_now["fires"][0]["outcome"]) == (False, None, "refused")
    assert "Mars/Base" in lost_now["fires"][0]["reason"]
    assert (old_now["enabled"], old_now["next_due_at"]) == (True, "2026-03-04T14:00:00Z")
    assert "problem: a value is required" in old_now["fires"][0]["reason"]
    assert old_now["job"] == {"shape": [512, 384, 1024]}
    assert client.post(f"/v1/schedules/{lost['id']}/resume").json()["rule"] == "timezone"


def test_a_schedule_that_changes_while_it_fires_is_looked_at_again(
    client: TestClient, context: Context, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = post(client, name="first"), post(client, name="second", job=BODY | {"seed": 8})

    def advance(schedule: Schedule, due_at: datetime | None) -> None:
        if schedule.name == "first":
            schedule.enabled = False  # as a pause does that is committed in between; breaks next_due_only_enabled
        else:
            schedule.next_due_at = due_at

    monkeypatch.setattr(firing, "_advance", advance)
    clock.step(hours=1)
    assert fire_due(context) == 1
    assert (outcomes(client, first), len(outcomes(client, second))) == ([], 1)
    monkeypatch.undo()
    assert fire_due(context) == 1
    assert len(outcomes(client, first)) == 1


def test_a_name_that_another_request_took_meanwhile_is_a_conflict(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    post(client)
    monkeypatch.setattr(schedules, "by_name", lambda *_: None)
    again = client.post("/v1/schedules", json=HOURLY)
    assert (again.status_code, again.json()["rule"]) == (409, "unique-name")


def test_two_processes_never_fire_twice(settings: Settings, clock: Clock, database: Database) -> None:
    url = database.engine.url.render_as_string(hide_password=False)
    apps = [create_app(settings.model_copy(update={"database_url": url}), invented_devices, clock) for _ in range(2)]
    contexts: list[Context] = [app.state.context for app in apps]
    client = TestClient(apps[0])
    made = [post(client, name=f"s{i}", job=BODY | {"seed": i}) for i in range(4)]
    clock.step(hours=1)
    start, handled = threading.Barrier(2), []

    def look(context: Context) -> None:
        start.wait(10)
        handled.append(fire_due(context))

    threads = [threading.Thread(target=look, args=(c,)) for c in contexts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(handled) == 4
    assert [len(outcomes(client, schedule)) for schedule in made] == [1, 1, 1, 1]
    assert len(jobs_of(database)) == 4
    for context in contexts:
        context.database.close()


def test_a_due_time_that_was_handled_before_goes_on_without_a_job(
    client: TestClient, context: Context, clock: Clock
) -> None:
    made = post(client)
    clock.step(hours=1)
    with context.database.write() as session:
        (row,) = schedules.list_all(session)
        assert row.next_due_at is not None
        schedules.add_fire(session, row.id, row.next_due_at, outcome="missed")
    assert fire_due(context) == 0
    assert jobs_of(context.database) == []
    assert client.get(f"/v1/schedules/{made['id']}").json()["next_due_at"] == "2026-03-04T14:00:00Z"


def test_a_paused_schedule_rests_and_what_came_due_then_does_not_count(
    client: TestClient, context: Context, clock: Clock
) -> None:
    made = post(client)
    paused = client.post(f"/v1/schedules/{made['id']}/pause").json()
    assert (paused["enabled"], paused["next_due_at"]) == (False, None)
    clock.step(hours=2)
    assert fire_due(context) == 0
    resumed = client.post(f"/v1/schedules/{made['id']}/resume").json()
    assert (resumed["enabled"], resumed["next_due_at"]) == (True, "2026-03-04T15:00:00Z")
    assert fire_due(context) == 0
    assert jobs_of(context.database) == []


def test_a_changed_schedule_keeps_its_id_its_history_and_its_pause(
    client: TestClient, context: Context, clock: Clock
) -> None:
    made = post(client)
    clock.step(days=1)
    fire_due(context)
    path = f"/v1/schedules/{made['id']}"
    other = {"name": "weekly", "cron": "0 4 * * sun", "stale": {"most_jobs": 3}, "missed": {"policy": "all", "most": 7}}
    changed = client.put(path, json=other)
    assert changed.status_code == 200
    assert changed.json() == client.get(path).json()
    seen = changed.json()
    assert (seen["name"], seen["kind"], seen["job"], seen["stale"]["most_jobs"]) == ("weekly", "stale", None, 3)
    assert (seen["next_due_at"], seen["missed"]["most"]) == ("2026-03-08T04:00:00Z", 7)
    assert len(seen["fires"]) == 1
    client.post(f"{path}/pause")
    assert client.put(path, json=other | {"cron": "0 5 * * sun"}).json()["next_due_at"] is None
    assert client.post(f"{path}/resume").json()["next_due_at"] == "2026-03-08T05:00:00Z"


def test_a_change_is_refused_as_a_new_schedule_is(client: TestClient) -> None:
    made = post(client)
    path = f"/v1/schedules/{made['id']}"
    body = {"name": "second", "cron": "0 4 * * *", "stale": {}}
    assert client.post("/v1/schedules", json=body).status_code == 201
    for wrong, status in (({}, 409), ({"name": "a", "cron": "0 0 30 2 *"}, 400), ({"name": "a", "stale": None}, 400)):
        assert client.put(path, json=body | wrong).status_code == status
    assert (
        client.put("/v1/schedules/01970a3c-0000-7000-8000-000000000000", json=body | {"name": "b"}).status_code == 404
    )
    assert client.get(path).json() == made


def test_a_deleted_schedule_is_gone_and_its_job_stays(client: TestClient, context: Context, clock: Clock) -> None:
    made = post(client)
    clock.step(hours=1)
    fire_due(context)
    assert client.delete(f"/v1/schedules/{made['id']}").status_code == 204
    assert client.get(f"/v1/schedules/{made['id']}").status_code == 404
    assert client.delete(f"/v1/schedules/{made['id']}").status_code == 404
    assert len(jobs_of(context.database)) == 1


@pytest.mark.parametrize(
    ("change", "status", "rule"),
    [
        ({"cron": "61 * * * *"}, 400, "cron"),
        ({"cron": "0 0 30 2 *"}, 400, "cron"),
        ({"cron": ""}, 422, "too-short"),
        ({"timezone": "Mars/Olympus"}, 400, "timezone"),
        ({"misfire_grace_s": 0}, 400, "misfire-grace"),
        ({"misfire_grace_s": 10**9}, 400, "misfire-grace"),
        ({"job": BODY | {"device": "nosuch"}}, 400, "unknown-device"),
        ({"job": BODY | {"device": "wildcat-lake"}}, 409, "device-target"),
        ({"job": BODY | {"budget": {"trials": 0}}}, 400, "budget"),
        ({"job": {}}, 422, "missing"),
        ({"name": ""}, 422, "too-short"),
        ({"name": "a\x00b"}, 422, "pattern"),
    ],
)
def test_bad_schedules_are_refused_with_the_rule(
    client: TestClient, change: dict[str, object], status: int, rule: str | None
) -> None:
    answer = client.post("/v1/schedules", json=HOURLY | change)
    assert (answer.status_code, answer.json().get("rule")) == (status, rule)
    assert client.get("/v1/schedules").json() == {"schedules": []}


def test_a_fault_of_the_job_is_told_by_its_place_in_the_schedule(client: TestClient) -> None:
    for work, field in (({"device": "nosuch"}, "job.device"), ({"budget": {"trials": 0}}, "job.budget.trials")):
        answer = client.post("/v1/schedules", json=HOURLY | {"job": BODY | work})
        assert [fault["field"] for fault in answer.json()["errors"]] == [field]


def test_names_are_unique_and_unknown_schedules_are_404(client: TestClient) -> None:
    post(client)
    again = client.post("/v1/schedules", json=HOURLY)
    assert (again.status_code, again.json()["rule"]) == (409, "unique-name")
    for tail in ("pause", "resume"):
        assert client.post(f"/v1/schedules/{uuid4()}/{tail}").status_code == 404


def test_after_the_clock_jumped_there_and_back_a_schedule_is_due_at_its_next_time(
    client: TestClient, context: Context, clock: Clock
) -> None:
    post(client)
    clock.step(days=365)
    assert fire_due(context) == 1
    clock.step(days=-365)
    assert realign(context) == 1
    assert realign(context) == 0
    (shown,) = client.get("/v1/schedules").json()["schedules"]
    assert shown["next_due_at"] == "2026-03-04T13:00:00Z"
    clock.step(hours=1)
    assert fire_due(context) == 1


def test_the_clock_of_a_running_service_notices_a_jump_back(
    client: TestClient, context: Context, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    monkeypatch.setattr("service.api.schedules.clock.realign", lambda _: calls.append("realign"))
    monkeypatch.setattr("service.api.schedules.clock.fire_due", lambda _: calls.append("fire"))
    ticker = ScheduleClock(context)
    for hours in (0, 1, -2, 1):
        clock.step(hours=hours)
        ticker.look()
    assert calls == ["realign", "fire", "fire", "realign", "fire", "fire"]


def test_the_clock_of_a_running_service_fires_what_was_missed_at_once(
    client: TestClient, context: Context, clock: Clock
) -> None:
    post(client)
    clock.step(hours=1)
    ticker = ScheduleClock(context)
    ticker.start()
    try:
        for _ in range(200):
            if jobs_of(context.database):
                break
            threading.Event().wait(0.01)
    finally:
        ticker.stop()
    assert len(jobs_of(context.database)) == 1
