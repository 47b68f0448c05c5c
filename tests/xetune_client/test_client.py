"""The client: retries send nothing twice, events miss nothing, downloads are complete."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from uuid import UUID, uuid4

import anyio
import httpx
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from db.queries.cluster import leases
from service.http.context import Context
from tests.db.rows import add_measured
from tests.service.passed import Passed
from tests.service.rest import BODY, post_job, row_of
from tuner.exchange.jsonl import broken_line
from xetune_client import (
    AsyncClient,
    Client,
    Conflict,
    Damaged,
    Fetched,
    Forbidden,
    JobChanged,
    Misused,
    NotFound,
    NotReached,
    Retries,
    TookTooLong,
    TooMany,
    TrialEnded,
    Unreadable,
    connection,
    models,
)
from xetune_client import async_client as asynchronous
from xetune_client import client as synchronous
from xetune_client.wire import Answer, Lost

PROMPT = Retries(attempts=4, first_s=0.0, most_s=0.0, patience_s=0.0)
Handler = Callable[[httpx.Request], httpx.Response]


class Broken(httpx.SyncByteStream):
    """A body whose connection is lost after some bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __iter__(self) -> Iterator[bytes]:
        yield self._data
        raise httpx.ReadError("connection reset")


def faked(handler: Handler, **options: object) -> Client:
    """A client of a service that a function plays."""
    how = {"retries": PROMPT, "transport": httpx.MockTransport(handler)} | options
    return Client("http://service", **how)  # pyright: ignore[reportArgumentType]


def refused(status: int, rule: str, **headers: str) -> httpx.Response:
    """problem+json."""
    body = {"type": "urn", "title": "T", "status": status, "detail": "no", "instance": "/v1", "rule": rule}
    return httpx.Response(status, json=body, headers={"content-type": "application/problem+json", **headers})


@pytest.fixture
def own(app: FastAPI, client: TestClient) -> Iterator[Client]:
    """The client of the real service, within this process."""
    transport = client._transport
    with Client("http://testserver", retries=PROMPT, transport=Passed(transport)) as made:
        yield made


def job_body(**changes: object) -> models.JobBody:
    """The job of these tests."""
    return models.JobBody.model_validate(BODY | changes)


def test_a_job_is_made_followed_and_cancelled(own: Client, context: Context) -> None:
    made = own.create_job(job_body())
    assert (made.status, made.device, made.problem.m) == (models.JobStatus.QUEUED, "b580", 512)
    assert own.create_job(job_body()).id == made.id
    assert [job.id for job in own.jobs(device="b580", m=512, status=[models.JobStatus.QUEUED]).jobs] == [made.id]
    with context.database.write() as session:
        leases.claim(session, made.id, "w", 60.0)
        for number in range(3):
            add_measured(session, row_of(session, made.id), number, 500.0 - number)
        leases.finish(session, made.id, "w", "succeeded")
    for stream in (True, False):
        told = list(own.events(made.id, stream=stream))
        assert [event.trial.number for event in told if isinstance(event, TrialEnded)] == [0, 1, 2]
        assert isinstance(told[-1], JobChanged)
        assert told[-1].is_last
        assert told[-1].job == own.job(made.id) == own.wait(made.id)
    assert [event.trial.number for event in own.events(made.id, after=1) if isinstance(event, TrialEnded)] == [2]
    assert own.trials(made.id).trials == own.trials(made.id, status=[models.TrialStatus.MEASURED]).trials
    other = own.create_job(job_body(seed=8))
    assert own.cancel(other.id).status is models.JobStatus.CANCELLED
    assert own.retry(other.id).retry_of == other.id


def test_what_the_service_refuses_is_typed_and_names_the_rule(own: Client) -> None:
    with pytest.raises(NotFound) as missing:
        own.job(UUID(int=1))
    assert missing.value.rule == "not-found", missing.value.detail
    assert missing.value.request_id
    assert missing.value.request_id in str(missing.value)
    with pytest.raises(Conflict) as refusal:
        own.create_job(job_body(device="wildcat-lake"))
    assert refusal.value.rule == "device-target"


def test_lookups_schedules_sets_keys_and_the_log_are_read(own: Client) -> None:
    problem = models.ProblemBody(m=512, n=384, k=1024)
    found = own.lookup(models.LookupBody(problem=problem, device="b580"))
    (same,) = own.lookup_batch(models.BatchBody(problems=[problem], device="b580")).answers or []
    assert same is not None
    assert (found.source, found.config) == (same.source, same.config)
    made = own.create_schedule(models.ScheduleBody(name="nightly", cron="30 2 * * *", job=job_body()))
    assert not own.pause_schedule(made.id).enabled
    assert own.resume_schedule(made.id).enabled
    assert [schedule.id for schedule in own.schedules().schedules] == [made.id]
    assert len(own.next_times(made.id, count=2).due) == 2
    started = own.run_schedule(made.id)
    assert [fire.id for fire in own.fires(made.id).fires] == [started.id]
    own.delete_schedule(made.id)
    asked = models.ShapeSetBody(text="m=1,16 n=4096 k=4096", device="b580")
    shapes = own.create_shape_set(asked)
    assert len(own.shape_set(shapes.id).shapes) == 2
    assert own.cancel_shape_set(shapes.id).status == "cancelled"
    own.delete_shape_set(shapes.id)
    assert own.presets().presets
    assert own.device("arc-b580").id == "b580"
    assert b'"header"' in own.export_results()
    explained = own.explain(models.ExplainBody(problem=problem, device="b580"))
    assert isinstance(explained, models.GpuExplanation)
    key = own.create_key(models.KeyBody(name="ana", scope=models.Scope.ADMIN))
    assert key.key is not None
    with Client("http://testserver", key.key, retries=PROMPT, transport=own._connection._http._transport) as known:
        assert known.revoke_key(known.create_key(models.KeyBody(name="b", scope=models.Scope.READ)).id).revoked_at
        assert known.audit(action="schedule.delete").events[0].subject == str(made.id)


def test_a_request_is_sent_again_with_the_same_key_until_it_is_answered() -> None:
    keys: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers["idempotency-key"])
        match len(keys):
            case 1:
                raise httpx.ConnectError("refused")
            case 2:
                return refused(503, "database-locked", **{"retry-after": "0"})
            case 3:
                return httpx.Response(502, text="<html>bad gateway</html>")
            case _:
                return refused(409, "memory")

    with pytest.raises(Conflict):
        faked(handler).create_job(job_body())
    assert len(keys) == 4
    assert len(set(keys)) == 1
    again = faked(handler)
    with pytest.raises(Conflict):
        again.create_job(job_body())
    assert len(set(keys)) == 2  # another call, another key


def test_it_waits_as_long_as_it_is_asked_to_and_gives_up_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Retries(attempts=3, first_s=1.0, most_s=8.0, patience_s=20.0, draw=lambda: 1.0)

    def waited(*outcomes: Answer | Lost) -> list[float]:
        left, waits = list(outcomes), list[float]()

        def handler(_: httpx.Request) -> httpx.Response:
            outcome = left.pop(0)
            if isinstance(outcome, Lost):
                raise httpx.ReadError(outcome.why)
            return httpx.Response(outcome.status, headers=dict(outcome.headers))

        monkeypatch.setattr(connection.time, "sleep", waits.append)
        with pytest.raises((TooMany, NotReached)):
            faked(handler, retries=plan).job(UUID(int=1))
        return waits

    busy = Answer(429, {"retry-after": "5"})
    assert waited(busy, Lost("x"), busy) == [5.0, 2.0]
    assert waited(Answer(429, {"retry-after": "30"})) == []  # more than its patience
    assert waited(Lost("x"), Lost("x"), Lost("gone")) == [1.0, 2.0]
    assert [plan.pause_s(n) for n in (1, 4, 5, 99)] == [1.0, 8.0, 8.0, 8.0]
    assert 0.5 <= Retries(first_s=1.0).pause_s(1) <= 1.0


def test_a_deletion_whose_answer_was_lost_is_done() -> None:
    sent: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        sent.append(request.method)
        if len(sent) == 1:
            raise httpx.ReadError("reset")
        return refused(404, "not-found")

    faked(handler).delete_schedule(UUID(int=1))
    assert sent == ["DELETE", "DELETE"]
    with pytest.raises(NotFound):
        faked(handler).delete_schedule(UUID(int=1))


def test_a_file_goes_on_where_it_broke_and_its_hash_is_compared() -> None:
    data = bytes(range(256)) * 20
    sha256, ranges = hashlib.sha256(data).hexdigest(), list[str | None]()

    def handler(request: httpx.Request) -> httpx.Response:
        wanted = request.headers.get("range")
        ranges.append(wanted)
        begin = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        headers = {"content-range": f"bytes {begin}-{len(data) - 1}/{len(data)}"} if wanted else {}
        status = 206 if wanted else 200
        if len(ranges) <= 3:
            return httpx.Response(status, headers=headers, stream=Broken(data[begin : begin + 1000]))
        return httpx.Response(status, headers=headers, content=data[begin:])

    assert faked(handler).artifact(sha256) == data
    assert ranges == [None, "bytes=1000-", "bytes=2000-", "bytes=3000-"]
    begun = Fetched(bytearray(data[:4000]))
    assert faked(handler).artifact(sha256, begun) == data
    assert ranges[-1] == "bytes=4000-"
    with pytest.raises(Damaged):
        faked(handler).artifact("0" * 64)


def test_a_stream_that_breaks_goes_on_with_the_last_event(own: Client, client: TestClient, context: Context) -> None:
    job_id = post_job(client)
    with context.database.write() as session:
        leases.claim(session, job_id, "w", 60.0)
        for number in range(3):
            add_measured(session, row_of(session, job_id), number, 500.0 - number)
        leases.finish(session, job_id, "w", "succeeded")
    whole = client.get(f"/v1/jobs/{job_id}/events").content
    cut = whole.index(b"id: 1") + 3  # within the second event
    seen: list[str | None] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("last-event-id"))
        if len(seen) == 1:
            return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Broken(whole[:cut]))
        got = client.get(request.url.raw_path.decode(), headers={"last-event-id": request.headers["last-event-id"]})
        return httpx.Response(200, headers={"content-type": "text/event-stream; charset=utf-8"}, content=got.content)

    told = list(faked(handler).events(job_id))
    assert [event.trial.number for event in told if isinstance(event, TrialEnded)] == [0, 1, 2]
    assert seen == [None, "0"]
    assert isinstance(told[-1], JobChanged)
    assert told[-1].job == own.job(job_id)


def test_without_streams_it_polls(own: Client, client: TestClient, context: Context) -> None:
    job_id = post_job(client)
    with context.database.write() as session:
        leases.claim(session, job_id, "w", 60.0)
        add_measured(session, row_of(session, job_id), 0, 500.0)
        leases.finish(session, job_id, "w", "succeeded")

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/events"):
            return refused(429, "streams", **{"retry-after": "30"})
        got = client.get(request.url.raw_path.decode())
        return httpx.Response(got.status_code, json=got.json())

    told = list(faked(handler).events(job_id))
    assert [type(event) for event in told] == [TrialEnded, JobChanged]


def test_waiting_has_an_end(own: Client, client: TestClient) -> None:
    job_id = post_job(client)
    with pytest.raises(TookTooLong, match=str(job_id)):
        own.wait(job_id, timeout_s=0.0)


def test_the_asynchronous_face_does_the_same() -> None:
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        if len(asked) == 1:
            raise httpx.ConnectError("refused")
        return httpx.Response(200, json={"schedules": []})

    async def main() -> None:
        async with AsyncClient("http://service", retries=PROMPT, transport=httpx.MockTransport(handler)) as client:
            assert (await client.schedules()).schedules == []

    anyio.run(main)
    assert asked == ["/v1/schedules", "/v1/schedules"]


def test_both_faces_go_through_all_pages(
    own: Client, context: Context, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (synchronous, asynchronous):
        monkeypatch.setattr(module, "_JOBS_A_PAGE", 2)
        monkeypatch.setattr(module, "_TRIALS_A_PAGE", 2)
    made = [own.create_job(job_body(seed=seed)).id for seed in range(5)]
    other = own.create_job(job_body(seed=5))
    own.cancel(other.id)
    with context.database.write() as session:
        for number in range(5):
            add_measured(session, row_of(session, made[0]), number, 500.0 - number)
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(200, content=client.get(str(request.url)).content)

    async def found() -> tuple[list[UUID], list[int]]:
        async with AsyncClient("http://testserver", transport=httpx.MockTransport(handler)) as face:
            of = [job.id async for job in face.each_job(status=[models.JobStatus.QUEUED])]
            return of, [trial.number async for trial in face.each_trial(made[0], after=0)]

    jobs = [job.id for job in own.each_job(status=[models.JobStatus.QUEUED])]
    assert sorted(jobs) == sorted(made)
    assert [trial.number for trial in own.each_trial(made[0])] == [0, 1, 2, 3, 4]
    assert anyio.run(found) == (jobs, [1, 2, 3, 4])
    assert len(asked) >= 3 + 2


def test_the_key_is_shown_to_the_service_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    secret, shown = "xetune_abc_secretsecret", list[str | None]()

    def handler(request: httpx.Request) -> httpx.Response:
        shown.append(request.headers.get("authorization"))
        return refused(403, "scope")

    monkeypatch.setenv("XETUNE_API_KEY", secret)
    caplog.set_level("DEBUG")
    client = faked(handler)
    with pytest.raises(Forbidden) as refusal:
        client.keys()
    assert shown == [f"Bearer {secret}"]
    told = [repr(client), repr(vars(client)), str(refusal.value), repr(refusal.value), caplog.text]
    assert not [text for text in told if secret in text]


@pytest.mark.parametrize("url", ["ftp://x", "http://", "x", "http://u:p@x", "http://x?y=1", "http://x:port"])
def test_an_address_that_cannot_be_is_told(url: str) -> None:
    with pytest.raises(Misused, match="expected the URL"):
        Client(url)


@pytest.mark.parametrize("text", ["localhost:8752", "lab.example", "lab:80/", "10.0.0.7:8752", "[::1]:8752"])
def test_the_likely_address_is_offered(text: str) -> None:
    with pytest.raises(Misused, match=re.escape(f"did you mean http://{text}?")):
        Client(text)


@pytest.mark.parametrize(
    ("text", "asked"), [("http://x/v1", "/v1/jobs"), ("http://x/v1/", "/v1/jobs"), ("http://x/a/v1", "/a/v1/jobs")]
)
def test_an_address_may_end_with_the_version(text: str, asked: str) -> None:
    paths: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.path)
        return httpx.Response(200, json={"jobs": [], "next_before": None})

    with Client(text, transport=httpx.MockTransport(handler)) as client:
        client.jobs()
    assert paths == [asked]


def test_a_closed_client_says_so() -> None:
    closed = faked(lambda _: httpx.Response(200, json={}))
    closed.close()
    for use in (closed.jobs, lambda: next(iter(closed.events(uuid4()))), lambda: closed.artifact("0" * 64)):
        with pytest.raises(Misused, match="the client is closed"):
            use()

    async def use_closed() -> None:
        gone = AsyncClient("http://x")
        await gone.close()
        await gone.jobs()

    with pytest.raises(Misused, match="the client is closed"):
        anyio.run(use_closed)


def test_an_export_that_broke_off_is_an_error() -> None:
    lines = '{"record":"header"}\n' + broken_line("kernel 7f cannot be read")
    with pytest.raises(Damaged, match=r"^the export broke off: kernel 7f cannot be read$"):
        faked(lambda _: httpx.Response(200, text=lines)).export_results()


def test_an_answer_of_something_else_is_told() -> None:
    with pytest.raises(Unreadable, match="is this a XeTune service"):
        faked(lambda _: httpx.Response(200, json={"hello": 1})).jobs()
    with pytest.raises(NotReached, match="after 4 attempts"):
        faked(lambda _: httpx.Response(200, stream=Broken(b"{"))).jobs()
    assert json.loads(job_body().model_dump_json(exclude_unset=True)) == BODY
