"""Audit log: each change with its actor, in the transaction of the change, and nothing else."""

import json
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from db.queries.access import audit
from service.api.audit.log import record
from service.api.keys.caller import LOCAL
from service.api.schedules.firing import fire_due
from service.cli.app import app as command_line
from service.http.context import Context
from service.settings import Settings
from tests.service.api.keys.test_keys import bearer, make_key
from tests.service.rest import BODY, Clock, post_job

SCHEDULE = {"name": "nightly", "cron": "0 13 * * *", "job": BODY}


def events(context: Context) -> list[tuple[str, str, str, str]]:
    """Return actor, action, subject and outcome of each event, oldest first."""
    with context.database.read() as session:
        rows = audit.list_page(session, limit=100)
    # Ids are in order to the millisecond only.
    return [(row.actor, row.action, row.subject, row.outcome) for row in sorted(rows, key=lambda row: row.at)]


def test_every_change_over_rest_is_told_with_its_caller_and_request(
    client: TestClient, context: Context, clock: Clock
) -> None:
    headers = bearer(make_key(context, name="ana")) | {"X-Request-Id": "mine-1"}
    job = client.post("/v1/jobs", json=BODY, headers=headers).json()["id"]
    client.post("/v1/jobs", json=BODY, headers=headers)
    client.post(f"/v1/jobs/{job}/cancel", headers=headers)
    schedule = client.post("/v1/schedules", json=SCHEDULE, headers=headers).json()["id"]
    client.post(f"/v1/schedules/{schedule}/pause", headers=headers)
    client.post(f"/v1/schedules/{schedule}/resume", headers=headers)
    clock.step(hours=1)
    assert fire_due(context) == 1
    client.delete(f"/v1/schedules/{schedule}", headers=headers)
    key = client.post("/v1/keys", json={"name": "ci", "scope": "read"}, headers=headers).json()
    refused = client.post("/v1/jobs", json=BODY, headers=bearer(key["key"]) | {"X-Request-Id": "theirs"})
    client.post(f"/v1/keys/{key['id']}/revoke", headers=headers)
    told = events(context)[1:]  # the first is of the key
    fired = told.pop(6)
    assert (fired[0], fired[1], fired[3]) == ("schedule", "job.create", "done")
    assert told == [
        ("ana", "job.create", job, "done"),
        ("ana", "job.create", job, "unchanged"),
        ("ana", "job.cancel", job, "done"),
        ("ana", "schedule.create", schedule, "done"),
        ("ana", "schedule.pause", schedule, "done"),
        ("ana", "schedule.resume", schedule, "done"),
        ("ana", "schedule.delete", schedule, "done"),
        ("ana", "key.create", key["id"], "done"),
        ("ci", "request", "POST /v1/jobs", "refused"),
        ("ana", "key.revoke", key["id"], "done"),
    ]
    page = client.get("/v1/audit", params={"key": key["id"]}, headers=headers).json()
    assert [(event["request_id"], event["outcome"]) for event in page["events"]] == [("theirs", "refused")]
    assert refused.headers["x-request-id"] == "theirs"


def test_what_did_not_change_anything_leaves_nothing(client: TestClient, context: Context) -> None:
    client.get("/v1/jobs")
    assert client.post(f"/v1/jobs/{uuid4()}/cancel").status_code == 404
    assert client.post("/v1/jobs", json=BODY | {"device": "nowhere"}).status_code == 400
    assert client.delete(f"/v1/schedules/{uuid4()}").status_code == 404
    assert events(context) == []


def test_an_event_is_undone_with_its_change(context: Context) -> None:
    def interrupted() -> None:
        with context.database.write() as session:
            record(session, LOCAL, "job.create", "a job")
            raise KeyError

    with pytest.raises(KeyError):
        interrupted()
    assert events(context) == []


def test_pages_join_without_gap_or_double_and_filters_filter(client: TestClient, context: Context) -> None:
    jobs = [str(post_job(client, seed=seed)) for seed in range(5)]
    client.post(f"/v1/jobs/{jobs[3]}/cancel")
    seen: list[str] = []
    before: dict[str, str] = {}
    while True:
        page = client.get("/v1/audit", params={"limit": 2, **before}).json()
        seen += [event["id"] for event in page["events"]]
        if page["next_before"] is None:
            break
        before = {"before": page["next_before"]}
    assert seen == sorted(set(seen), reverse=True)
    assert len(seen) == 6
    of_job = client.get("/v1/audit", params={"subject": jobs[3]}).json()["events"]
    assert {event["action"] for event in of_job} == {"job.create", "job.cancel"}
    assert len(client.get("/v1/audit", params={"action": "job.cancel"}).json()["events"]) == 1
    assert client.get("/v1/audit", params={"action": "' OR 1=1 --"}).json()["events"] == []


def test_a_request_has_an_id_of_its_own_unless_it_brings_one_that_is_fit_to_keep(client: TestClient) -> None:
    first, second = (client.get("/healthz").headers["x-request-id"] for _ in range(2))
    assert first != second
    for brought in ("a b", "x" * 65, "<script>", "a;b"):
        assert client.get("/healthz", headers={"X-Request-Id": brought}).headers["x-request-id"] != brought
    assert client.get("/v1/jobs", headers={"Host": "evil.example"}).headers["x-request-id"]


def test_the_command_line_tells_and_shows(
    client: TestClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XETUNE_DATA_DIR", str(settings.data_dir))
    monkeypatch.setenv("XETUNE_DATABASE_URL", settings.database_url)
    runner, job = CliRunner(), post_job(client)
    assert runner.invoke(command_line, ["jobs", "cancel", str(job)]).exit_code == 0
    shown = runner.invoke(command_line, ["audit", "--json", "--subject", str(job), "--limit", "1"]).stdout
    (event,) = json.loads(shown)["events"]
    assert (event["actor"], event["action"], event["request_id"]) == ("command line", "job.cancel", None)
    assert "older ones: xetune audit list --before" in runner.invoke(command_line, ["audit", "--limit", "1"]).stdout
