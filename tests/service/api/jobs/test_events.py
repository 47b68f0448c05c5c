"""Event stream of a job: the same data as polling, each trial once, resumable, closed at the job's end."""

import json
import threading
from collections.abc import Iterable
from uuid import UUID

import anyio
import pytest
from fastapi.testclient import TestClient
from sse_starlette.event import ServerSentEvent

from db.queries.cluster import leases
from db.session import Database
from db.values import utc_now
from service.api.jobs import events
from service.http.context import Context
from tests.db.rows import add_measured, add_trial
from tests.service.rest import post_job, row_of


def parse(lines: Iterable[str]) -> list[dict[str, str]]:
    """Parse the events of a stream into their fields."""
    found: list[dict[str, str]] = [{}]
    for line in lines:
        if line == "":
            found.append({})
        elif not line.startswith(":"):
            name, _, value = line.partition(": ")
            found[-1][name] = value
    return [event for event in found if event]


def read_all(client: TestClient, job_id: UUID, **headers: str) -> list[dict[str, str]]:
    """Read every event until the stream ends."""
    with client.stream("GET", f"/v1/jobs/{job_id}/events", headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        return parse(answer.iter_lines())


def run_job(database: Database, job_id: UUID, trials: int) -> None:
    """Claim a job and end it with some trials."""
    with database.write() as session:
        leases.claim(session, job_id, "w", 60.0)
        for number in range(trials):
            add_measured(session, row_of(session, job_id), number, 500.0 - number)
        leases.finish(session, job_id, "w", "succeeded")


def test_a_job_that_is_over_is_told_whole_and_the_stream_ends(client: TestClient, context: Context) -> None:
    job_id = post_job(client)
    run_job(context.database, job_id, 3)
    told = read_all(client, job_id)
    assert [(e["event"], e["id"]) for e in told] == [("trial", "0"), ("trial", "1"), ("trial", "2"), ("job", "end")]
    assert [json.loads(e["data"]) for e in told[:3]] == client.get(f"/v1/jobs/{job_id}/trials").json()["trials"]
    assert json.loads(told[3]["data"]) == client.get(f"/v1/jobs/{job_id}").json()


def test_a_client_that_comes_back_misses_none_and_sees_none_twice(client: TestClient, context: Context) -> None:
    job_id = post_job(client)
    run_job(context.database, job_id, 4)
    told = read_all(client, job_id, **{"Last-Event-ID": "1"})
    assert [e["id"] for e in told] == ["2", "3", "end"]
    path = f"/v1/jobs/{job_id}/events"
    assert client.get(path, headers={"Last-Event-ID": "end"}).status_code == 204


@pytest.mark.parametrize("event_id", ["x1", "-1", "2", "3", "999999999", "9999999999"])
def test_an_id_that_the_stream_has_not_told_is_refused(client: TestClient, context: Context, event_id: str) -> None:
    job_id = post_job(client)
    with context.database.write() as session:
        leases.claim(session, job_id, "w", 60.0)
        for number in range(2):
            add_measured(session, row_of(session, job_id), number, 500.0)
        add_trial(session, job_id, 2)
    refused = client.get(f"/v1/jobs/{job_id}/events", headers={"Last-Event-ID": event_id})
    assert (refused.status_code, refused.json()["rule"]) == (400, "event-id")
    assert repr(event_id) in refused.json()["detail"]


def test_news_comes_while_the_job_runs(client: TestClient, context: Context) -> None:
    job_id = post_job(client)
    with context.database.write() as session:
        leases.claim(session, job_id, "w", 60.0)
        add_trial(session, job_id, 0)
    first_seen = threading.Event()

    def work() -> None:
        assert first_seen.wait(10)
        with context.database.write() as session:
            add_measured(session, row_of(session, job_id), 1, 400.0)
        with context.database.write() as session:
            leases.finish(session, job_id, "w", "failed", "device-crashed: it is gone")

    worker = threading.Thread(target=work)
    worker.start()
    told: list[dict[str, str]] = []
    with client.stream("GET", f"/v1/jobs/{job_id}/events") as answer:
        lines: list[str] = []
        for line in answer.iter_lines():
            lines.append(line)
            if line == "":
                told += parse(lines)
                lines.clear()
                first_seen.set()
    worker.join()
    assert json.loads(told[0]["data"])["status"] == "running"
    assert (told[-1]["event"], told[-1]["id"]) == ("job", "end")
    assert json.loads(told[-1]["data"])["error"] == "device-crashed: it is gone"
    assert [e["id"] for e in told if e["event"] == "trial"] == ["1"]


def test_a_client_that_is_cut_off_after_every_event_loses_and_doubles_nothing(
    client: TestClient, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The events of all connections, during and after the job, equal those of a single one."""
    monkeypatch.setattr(events, "_CHUNK", 2)
    job_id = post_job(client)
    with context.database.write() as session:
        leases.claim(session, job_id, "w", 60.0)
    path, told, last = f"/v1/jobs/{job_id}/events", list[dict[str, str]](), ""

    async def first_of(after: int, many: int) -> list[ServerSentEvent]:
        poll_s, found = context.settings.events_poll_s, list[ServerSentEvent]()
        stream = events.job_events(context.news.read, job_id, after, poll_s, anyio.Event())
        async for event in stream:
            found.append(event)
            if len(found) == many:
                break
        await stream.aclose()
        return found

    for number in range(5):
        with context.database.write() as session:
            add_measured(session, row_of(session, job_id), number, 500.0 - number)
        # One event, then the connection is gone.
        (event,) = anyio.run(first_of, events.last_seen(last), 1)
        last = str(event.id)
        told += parse(event.encode().decode().splitlines())
    with context.database.write() as session:
        leases.finish(session, job_id, "w", "succeeded")
    while client.get(path, headers={"Last-Event-ID": last}).status_code != 204:
        (event,) = anyio.run(first_of, events.last_seen(last), 1)
        last = str(event.id)
        told += parse(event.encode().decode().splitlines())
    assert [e["id"] for e in told] == ["0", "1", "2", "3", "4", "end"]
    trials = client.get(f"/v1/jobs/{job_id}/trials").json()["trials"]
    assert [json.loads(e["data"]) for e in told[:5]] == trials
    assert json.loads(told[5]["data"]) == client.get(f"/v1/jobs/{job_id}").json()


def test_a_trial_behind_one_that_goes_on_waits_so_that_no_number_is_passed_by(
    client: TestClient, context: Context
) -> None:
    job_id = post_job(client)
    with context.database.write() as session:
        leases.claim(session, job_id, "w", 60.0)
        row = row_of(session, job_id)
        add_measured(session, row, 0, 500.0)
        pending = add_trial(session, job_id, 1)
        add_measured(session, row, 2, 400.0)
    assert [t.number for t in events.read_news(context.database, job_id, -1).trials] == [0]
    with context.database.write() as session:
        row = session.merge(pending)
        row.status, row.reason, row.ended_at = "rejected", "refused by rule x: y", utc_now()
    assert [t.number for t in events.read_news(context.database, job_id, 0).trials] == [1, 2]


def test_a_long_history_is_told_in_parts_and_whole(
    client: TestClient, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "_CHUNK", 3)
    job_id = post_job(client)
    run_job(context.database, job_id, 6)
    assert [e["id"] for e in read_all(client, job_id) if e["event"] == "trial"] == ["0", "1", "2", "3", "4", "5"]
