"""A request repeated with its Idempotency-Key gets the first answer and is executed once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from db.schema.access import ApiKey, AuditEvent
from db.schema.idempotency import IdempotentAnswer
from db.schema.schedule import Schedule
from db.session import Database
from service.app import create_app
from service.http.context import Context
from service.http.idempotency import REPLAYED
from service.settings import Settings
from tests.service.api.keys.test_keys import bearer, make_key
from tests.service.rest import BODY, Clock, invented_devices, jobs_of

SCHEDULE = {"name": "nightly", "cron": "0 2 * * *", "job": {"problem": BODY["problem"], "device": "b580"}}
KEY = {"Idempotency-Key": "8e03978e-40d5-43dd-bc93-6894a57f9324"}


def counted(database: Database, model: type[object]) -> int:
    """Count the rows of a table."""
    with database.read() as session:
        return session.scalar(select(func.count()).select_from(model)) or 0


def test_a_job_that_is_asked_for_again_is_answered_as_before(client: TestClient, context: Context) -> None:
    first = client.post("/v1/jobs", json=BODY, headers=KEY)
    client.post(f"/v1/jobs/{first.json()['id']}/cancel")
    again = client.post("/v1/jobs", json=BODY, headers=KEY)
    assert (first.status_code, REPLAYED in first.headers, again.headers[REPLAYED]) == (202, False, "true")
    assert (again.status_code, again.json(), again.headers["location"]) == (
        202,
        first.json(),
        first.headers["location"],
    )
    assert [job.id for job in jobs_of(context.database)] == [UUID(first.json()["id"])]
    other = client.post("/v1/jobs", json=BODY, headers={"Idempotency-Key": "another"})
    assert (other.status_code, other.json()["id"] != first.json()["id"]) == (202, True)


def test_the_same_meaning_in_other_spelling_is_the_same_request(client: TestClient) -> None:
    first = client.post("/v1/jobs", json=BODY, headers=KEY)
    spelled = ('{"seed": 7,  "device": "b580", "budget": {"seconds": 60, "trials": 20},'
               ' "problem": {"k": 1024, "n": 384, "m": 512}}')  # fmt: skip
    again = client.post("/v1/jobs", content=spelled, headers=KEY | {"Content-Type": "application/json"})
    assert (again.status_code, again.json()["id"]) == (202, first.json()["id"])


def test_a_key_of_another_request_is_refused_by_name(client: TestClient, context: Context) -> None:
    client.post("/v1/jobs", json=BODY, headers=KEY)
    for path, body in (("/v1/jobs", BODY | {"seed": 8}), ("/v1/schedules", SCHEDULE)):
        answer = client.post(path, json=body, headers=KEY)
        assert (answer.status_code, answer.json()["rule"]) == (422, "idempotency-key")
        assert answer.json()["type"] == "urn:xetune:problem:other-request"
    assert (len(jobs_of(context.database)), counted(context.database, Schedule)) == (1, 0)


@pytest.mark.parametrize("key", ["", "a b", "x" * 256, "\x7f"])
def test_a_key_that_cannot_be_one_is_malformed(client: TestClient, key: str) -> None:
    answer = client.post("/v1/jobs", json=BODY, headers={"Idempotency-Key": key})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "Idempotency-Key")


def test_what_was_refused_is_asked_anew(client: TestClient, context: Context) -> None:
    assert client.post("/v1/jobs", json=BODY | {"device": "nosuch"}, headers=KEY).status_code == 400
    assert client.post("/v1/jobs", json=BODY, headers=KEY).status_code == 202
    assert counted(context.database, IdempotentAnswer) == 1


def test_schedules_are_made_once_and_keys_are_told_once(client: TestClient, context: Context) -> None:
    for path, body in (("/v1/schedules", SCHEDULE), ("/v1/keys", {"name": "ci", "scope": "admin"})):
        headers = {"Idempotency-Key": path}
        first = client.post(path, json=body, headers=headers)
        if path == "/v1/keys":
            headers |= bearer(first.json()["key"])
            first = client.post(path, json={"name": "more", "scope": "read"}, headers=headers)
            again = client.post(path, json={"name": "more", "scope": "read"}, headers=headers)
            secret = first.json()["key"].split("_", 2)[2]
            assert again.json() == first.json() | {"key": None}
            with context.database.read() as session:
                assert not any(secret in kept for kept in session.scalars(select(IdempotentAnswer.body)))
        else:
            again = client.post(path, json=body, headers=headers)
            assert again.json() == first.json()
        assert (first.status_code, again.status_code, again.headers[REPLAYED]) == (201, 201, "true")
        assert again.headers.get("location") == first.headers.get("location")
    assert (counted(context.database, Schedule), counted(context.database, ApiKey)) == (1, 2)


def test_keys_are_each_callers_own(client: TestClient, context: Context) -> None:
    ana, bob = bearer(make_key(context, "tune", "ana")), bearer(make_key(context, "tune", "bob"))
    mine = client.post("/v1/jobs", json=BODY, headers=KEY | ana)
    theirs = client.post("/v1/jobs", json=BODY | {"seed": 9}, headers=KEY | bob)
    assert (theirs.status_code, theirs.json()["id"] != mine.json()["id"]) == (202, True)
    read = bearer(make_key(context, "read", "eve"))
    assert client.post("/v1/jobs", json=BODY, headers=KEY | read).json()["rule"] == "scope"


def test_an_answer_is_forgotten_when_its_time_is_over(client: TestClient, context: Context, clock: Clock) -> None:
    first = client.post("/v1/jobs", json=BODY, headers=KEY)
    client.post(f"/v1/jobs/{first.json()['id']}/cancel")
    clock.step(seconds=context.settings.idempotency_s - 1)
    assert client.post("/v1/jobs", json=BODY, headers=KEY).json()["id"] == first.json()["id"]
    clock.step(seconds=2)
    anew = client.post("/v1/jobs", json=BODY | {"seed": 8}, headers=KEY)
    assert (anew.status_code, REPLAYED in anew.headers) == (202, False)
    assert counted(context.database, IdempotentAnswer) == 1


def test_of_requests_at_the_same_moment_one_does_the_work(database: Database, settings: Settings, clock: Clock) -> None:
    url = database.engine.url.render_as_string(hide_password=False)
    app = create_app(settings.model_copy(update={"database_url": url}), invented_devices, clock)
    clients, ready = [TestClient(app) for _ in range(4)], threading.Barrier(4)

    def ask(client: TestClient) -> tuple[int, str, bool]:
        ready.wait(30)
        answer = client.post("/v1/schedules", json=SCHEDULE, headers=KEY)
        return answer.status_code, answer.json()["id"], REPLAYED in answer.headers

    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(ask, clients))
    assert {asked[:2] for asked in told} == {(201, told[0][1])}
    assert sorted(asked[2] for asked in told) == [False, True, True, True]
    assert (counted(database, Schedule), counted(database, AuditEvent)) == (1, 1)
    app.state.context.database.close()
