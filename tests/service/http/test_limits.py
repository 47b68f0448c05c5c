"""Limits of rate, size and origin, and security headers of every answer."""

import asyncio

import pytest
from fastapi.testclient import TestClient
from starlette.types import Message

from service.app import create_app
from service.errors import TooMany
from service.http.context import Context
from service.http.limits import Rates
from service.settings import Settings
from tests.service.api.keys.test_keys import bearer, make_key
from tests.service.rest import BODY, Clock, context_of, invented_devices, post_job

ORIGIN = "https://tools.example:8443"


def client_of(settings: Settings, clock: Clock, **changes: object) -> TestClient:
    """Return a client of a service with changed settings on the same database."""
    return TestClient(create_app(settings.model_copy(update=changes), invented_devices, clock))


def test_a_bucket_empties_fills_again_and_is_one_callers_own() -> None:
    moment = [100.0]
    rates = Rates(per_s=0.5, burst=3, clock=lambda: moment[0])
    for _ in range(3):
        rates.take("a")
    with pytest.raises(TooMany) as refusal:
        rates.take("a")
    assert (refusal.value.rule, refusal.value.headers()) == ("rate", {"Retry-After": "2"})
    rates.take("b")
    moment[0] += 2.0
    rates.take("a")
    with pytest.raises(TooMany):
        rates.take("a")
    moment[0] += 1e6
    for _ in range(3):
        rates.take("a")
    with pytest.raises(TooMany):
        rates.take("a")


def test_full_buckets_are_forgotten_when_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.http.limits._KEPT", 10)
    moment = [0.0]
    rates = Rates(per_s=1.0, burst=2, clock=lambda: moment[0])
    for caller in range(100):
        moment[0] += 1.0
        rates.take(caller)
    assert len(rates._buckets) <= 11


def test_a_caller_that_asks_too_often_is_told_when_to_come_back_and_others_are_not_kept_waiting(
    settings: Settings, clock: Clock, context: Context
) -> None:
    ana, ben = (bearer(make_key(context, "read", name)) for name in ("ana", "ben"))
    client = client_of(settings, clock, rate_per_s=0.001, rate_burst=2)
    statuses = [client.get("/v1/jobs", headers=ana).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    refused = client.get("/v1/jobs", headers=ana)
    assert (refused.json()["rule"], refused.headers["content-type"]) == ("rate", "application/problem+json")
    assert int(refused.headers["retry-after"]) > 900
    assert client.get("/v1/jobs", headers=ben).status_code == 200
    assert [client.get("/v1/jobs").status_code for _ in range(3)] == [401, 401, 429]
    assert client.get("/v1/jobs", headers=ben).status_code == 200
    assert [client.get("/healthz").status_code for _ in range(5)] == [200] * 5


def test_without_a_rate_nobody_is_kept_waiting(settings: Settings, clock: Clock) -> None:
    client = client_of(settings, clock, rate_per_s=0.0, rate_burst=1)
    assert [client.get("/v1/devices").status_code for _ in range(3)] == [200] * 3


def test_a_problem_larger_than_the_setting_is_refused_with_its_size(settings: Settings, clock: Clock) -> None:
    client = client_of(settings, clock, max_problem_bytes=2**20)
    for problem in ({"m": 512, "n": 384, "k": 1024}, {"m": 2**24, "n": 2**24 - 1, "k": 2**24 - 2, "batch": 2**24}):
        refused = client.post("/v1/jobs", json=BODY | {"problem": problem})
        assert (refused.status_code, refused.json()["rule"]) == (400, "problem-bytes")
        assert "XETUNE_MAX_PROBLEM_BYTES" in refused.json()["detail"]
    assert client.post("/v1/jobs", json=BODY | {"problem": {"m": 64, "n": 96, "k": 128}}).status_code == 202


def test_a_body_that_does_not_come_is_not_waited_for(settings: Settings, clock: Clock) -> None:
    app = create_app(settings.model_copy(update={"max_body_s": 0.05}), invented_devices, clock)
    headers = [(b"host", b"testserver"), (b"content-type", b"application/json"), (b"content-length", b"100")]
    scope = {"type": "http", "method": "POST", "path": "/v1/jobs", "raw_path": b"/v1/jobs", "query_string": b""}
    sent: list[Message] = []
    first: list[Message] = [{"type": "http.request", "body": b"{", "more_body": True}]

    async def receive() -> Message:
        if first:
            return first.pop()
        await asyncio.sleep(60)
        raise AssertionError("it was waited for")

    async def send(message: Message) -> None:
        sent.append(message)

    whole = scope | {"headers": headers, "scheme": "http", "server": ("testserver", 80), "client": ("127.0.0.1", 1)}
    asyncio.run(app(whole | {"http_version": "1.1", "root_path": ""}, receive, send))
    assert sent[0]["status"] == 408
    assert b"XETUNE_MAX_BODY_S" in sent[1]["body"]


def test_other_origins_may_ask_only_where_the_setting_names_them(settings: Settings, clock: Clock) -> None:
    asked = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST", "Sec-Fetch-Site": "cross-site"}
    closed = client_of(settings, clock)
    for answer in (closed.options("/v1/jobs", headers=asked), closed.get("/v1/jobs", headers=asked)):
        assert "access-control-allow-origin" not in answer.headers
    assert closed.post("/v1/jobs", json=BODY, headers=asked).status_code == 403
    opened = client_of(settings, clock, cors_origins=f"https://x.example, {ORIGIN}")
    preflight = opened.options("/v1/jobs", headers=asked)
    assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (200, ORIGIN)
    made = opened.post("/v1/jobs", json=BODY, headers=asked)
    assert (made.status_code, made.headers["access-control-allow-origin"]) == (202, ORIGIN)
    assert "access-control-allow-credentials" not in made.headers
    other = asked | {"Origin": "https://evil.example"}
    assert opened.post("/v1/jobs", json=BODY, headers=other).status_code == 403
    assert "access-control-allow-origin" not in opened.get("/v1/jobs", headers=other).headers


@pytest.mark.parametrize("text", ["*", "tools.example", "https://tools.example/path", "null", "javascript:x"])
def test_what_is_no_origin_is_not_taken_for_one(text: str) -> None:
    with pytest.raises(ValueError, match="expected origins such as"):
        Settings(cors_origins=text)


def test_answers_are_not_kept_or_shown_as_pages_unless_they_say_so(client: TestClient) -> None:
    for path in ("/v1/jobs", "/healthz", "/v1/nothing"):
        headers = client.get(path).headers
        assert headers["cache-control"] == "no-store"
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert "unsafe" not in headers["content-security-policy"]
    assert "script-src 'self'" in client.get("/").headers["content-security-policy"]
    assert client.get("/static/page.js").headers["cache-control"] == "no-cache"


def test_more_event_streams_than_the_setting_are_refused_and_each_that_ends_makes_room(
    settings: Settings, clock: Clock
) -> None:
    client = client_of(settings, clock, max_streams=1)
    streams = context_of(client).streams
    job = post_job(client)
    with streams.one():
        refused = client.get(f"/v1/jobs/{job}/events")
    assert (refused.status_code, refused.json()["rule"], refused.headers["retry-after"]) == (429, "streams", "2")
    client.post(f"/v1/jobs/{job}/cancel")
    for _ in range(3):
        assert "event: job" in client.get(f"/v1/jobs/{job}/events").text
    assert streams.taken == 0
