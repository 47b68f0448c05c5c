"""Behaviour common to all requests: health, problem+json, limits, headers, the contract."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from fastapi.testclient import TestClient

from db.queries.cluster import leases
from db.session import Database, make_engine
from service.app import create_app
from service.errors import Problem
from service.http.context import Context
from service.http.request_guard import allowed_hosts
from service.openapi.contract import CONTRACT_FILE, contract_text
from service.settings import Settings
from tests.service.contract import contract
from tests.service.rest import BODY, Clock, invented_devices, post_job


def test_the_contract_file_is_the_apps_contract(app: FastAPI) -> None:
    assert CONTRACT_FILE.read_text() == contract_text(app), "run: python -m service.openapi --write"
    assert contract() == app.openapi()


def test_every_field_of_the_contract_is_described_with_an_example() -> None:
    schemas = contract()["components"]["schemas"]
    for name, schema in schemas.items():
        for field, facts in schema.get("properties", {}).items():
            assert facts.get("description"), f"{name}.{field} has no description"
            assert "examples" in facts, f"{name}.{field} has no example"


def test_every_error_answer_of_the_contract_is_a_problem() -> None:
    shared = contract()["components"]["responses"]
    for path, methods in contract()["paths"].items():
        for method, operation in methods.items():
            for status, answer in operation["responses"].items():
                if int(status) >= 400:
                    stated = shared[answer["$ref"].rpartition("/")[2]] if "$ref" in answer else answer
                    problem = stated["content"]["application/problem+json"]["example"]
                    assert problem == Problem.model_validate(problem).model_dump(exclude_none=True)
                    assert (str(problem["status"]), len(stated["content"])) == (status, 1), f"{method} {path} {status}"


def test_health_needs_nothing_and_readiness_needs_the_database(client: TestClient, context: Context) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    post_job(client, seed=1)
    live, stale = post_job(client, seed=2), post_job(client, seed=3)
    with context.database.write() as session:
        leases.claim(session, live, "w1", 60.0, now=context.now())
        leases.claim(session, stale, "w2", -5.0, now=context.now())
    ready = client.get("/readyz").json()
    assert ready["workers"] == {"running": 1, "stale": 1, "queued": 1}


@pytest.fixture
def bare(tmp_path: Path, settings: Settings, clock: Clock) -> TestClient:
    """A client of a service whose database was never migrated."""
    url = f"sqlite:///{tmp_path / 'bare.sqlite'}"
    return TestClient(create_app(settings.model_copy(update={"database_url": url}), invented_devices, clock))


@pytest.mark.parametrize("path", ["/readyz", "/v1/jobs", "/v1/schedules", "/v1/kernels?m=5&n=6&k=64"])
def test_a_database_that_is_not_migrated_is_a_503_with_the_remedy(bare: TestClient, path: str) -> None:
    answer = bare.get(path)
    assert (answer.status_code, answer.json()["rule"]) == (503, "database-not-migrated")
    assert answer.headers["content-type"] == "application/problem+json"
    assert "xetune db upgrade" in answer.json()["detail"]
    assert bare.get("/healthz").status_code == 200
    assert bare.post("/v1/jobs", json=BODY).status_code == 503


def test_a_locked_database_is_a_503_that_says_to_try_again(
    client: TestClient, context: Context, sqlite_url: str
) -> None:
    object.__setattr__(context, "database", Database(make_engine(sqlite_url, lock_timeout_s=0.05)))
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        answer = client.post("/v1/jobs", json=BODY)
    finally:
        other.close()
    assert (answer.status_code, answer.json()["rule"]) == (503, "database-locked")
    assert answer.headers["retry-after"] == "5"
    assert post_job(client)


def test_a_body_over_the_limit_is_refused_whole_or_in_chunks(client: TestClient, settings: Settings) -> None:
    large = b"[" + b" " * settings.max_body_bytes + b"]"
    headers = {"Content-Type": "application/json"}
    for content in (large, (large[i : i + 500] for i in range(0, len(large), 500))):
        answer = client.post("/v1/jobs", content=content, headers=headers)
        assert (answer.status_code, answer.json()["type"]) == (413, "urn:xetune:problem:too-large")
        assert answer.json()["rule"] == "body-bytes"
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("body", "content_type", "status", "rule"),
    [
        (b"{", "application/json", 422, "json"),
        (b"", "application/json", 422, "missing"),
        (b"[" * 2000, "application/json", 400, "json-nesting"),
        (b'{"seed": NaN}', "application/json", 422, "not-an-integer"),
        (b"{}", "text/plain", 415, "content-type"),
        (b"{}", "application/jsonp", 415, "content-type"),
        (b"{}", "", 415, "content-type"),
        (b"{", "application/problem+json; charset=utf-8", 422, "json"),
    ],
)
def test_bodies_that_are_not_json_are_refused(
    client: TestClient, body: bytes, content_type: str, status: int, rule: str
) -> None:
    answer = client.post("/v1/jobs", content=body, headers={"Content-Type": content_type})
    assert (answer.status_code, answer.json()["rule"]) == (status, rule)
    assert answer.headers["content-type"] == "application/problem+json"


def test_unknown_paths_and_methods_are_problems(client: TestClient) -> None:
    missing = client.get("/v1/nothing")
    assert (missing.status_code, missing.json()["instance"]) == (404, "/v1/nothing")
    refused = client.put("/v1/jobs")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, POST")
    for answer in (missing, refused):
        assert answer.headers["content-type"] == "application/problem+json"


def broken() -> None:
    """Raise an unexpected error."""
    raise RuntimeError("secret")


def test_a_fault_of_the_service_is_a_problem_that_leaks_nothing(client: TestClient, context: Context) -> None:
    object.__setattr__(context.devices, "_list_all", broken)
    answer = client.get("/v1/devices", headers={"X-Request-Id": "mine"})
    assert (answer.status_code, answer.json()["type"]) == (500, "urn:xetune:problem:internal")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-request-id"] == "mine"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "secret" not in answer.text
    assert 'route="/v1/devices",status="500"} 1.0' in client.get("/metrics").text


def test_an_answer_that_a_fault_cuts_short_is_not_ended_as_if_it_were_whole(app: FastAPI) -> None:
    def half() -> Iterator[bytes]:
        yield b"half"
        broken()

    app.add_api_route("/half", lambda: StreamingResponse(half()))
    with pytest.raises(RuntimeError, match="secret"):
        TestClient(app).get("/half")


@pytest.mark.parametrize("path", ["/healthz", "/v1/nothing", "/v1/jobs"])
def test_every_answer_carries_the_security_headers(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_cannot_make_a_browser_change_anything(client: TestClient, site: str) -> None:
    job_id = post_job(client)
    cancel = f"/v1/jobs/{job_id}/cancel"
    refused = client.post(cancel, headers={"Sec-Fetch-Site": site})
    assert (refused.status_code, refused.headers["content-type"]) == (403, "application/problem+json")
    assert client.get(f"/v1/jobs/{job_id}", headers={"Sec-Fetch-Site": site}).json()["status"] == "queued"
    for origin in ("http://evil.example", "null", "http://testserver.evil.example", "http://["):
        assert client.post(cancel, headers={"Origin": origin}).json()["rule"] == "csrf"
    ours = {"Sec-Fetch-Site": "same-origin", "Origin": "http://testserver"}
    assert client.post(cancel, headers=ours).json()["status"] == "cancelled"


def test_a_running_service_starts_and_stops_with_its_clock(settings: Settings, clock: Clock) -> None:
    app = create_app(settings.model_copy(update={"scheduler": True}), invented_devices, clock)
    with TestClient(app) as client:
        assert client.get("/readyz").status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8752", 200),
        ("LOCALHOST", 200),
        ("127.0.0.1:9", 200),
        ("[::1]:8752", 200),
        ("evil.example", 400),
        ("localhost.evil.example", 400),
        ("localhost@evil.example", 400),
        ("[::2]", 400),
        ("", 400),
    ],
)
def test_only_its_own_names_are_answered(client: TestClient, host: str, status: int) -> None:
    answer = client.get("/v1/devices", headers={"Host": host})
    assert answer.status_code == status
    if status == 400:
        assert answer.json()["rule"] == "host"
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["x-frame-options"] == "DENY"


def test_the_address_it_listens_on_and_a_star_are_allowed() -> None:
    assert "192.0.2.7" in allowed_hosts(Settings(host="192.0.2.7"))
    assert "[2001:db8::1]" in allowed_hosts(Settings(host="2001:db8::1"))
    assert "*" in allowed_hosts(Settings(allowed_hosts="*"))
