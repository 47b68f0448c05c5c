"""API keys: scopes, and no secret in logs or the database."""

import inspect
import json
import logging
import sqlite3
from collections.abc import Iterator

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from db.queries.access import api_keys
from service.api.keys import service
from service.api.keys.caller import COMMAND_LINE
from service.api.keys.callers import (
    check_closed,
    is_loopback,
)
from service.api.keys.guard import (
    GuardedRoute,
    Needs,
)
from service.api.keys.schemas import KeyBody
from service.api.keys.scope import Scope
from service.api.keys.tokens import (
    new_token,
    read_token,
)
from service.app import create_app
from service.cli.app import app as command_line
from service.http.context import Context
from service.settings import Settings
from tests.service.rest import BODY, Clock, invented_devices, post_job
from tests.system.processes import free_port


def make_key(context: Context, scope: str = "admin", name: str = "me", **changes: object) -> str:
    """Create a valid key."""
    body = KeyBody.model_validate({"name": name, "scope": scope, **changes})
    with context.database.write() as session:
        key = service.create(session, body, context.now(), COMMAND_LINE).key
    assert key is not None
    return key


def bearer(key: str) -> dict[str, str]:
    """Return the header of a key."""
    return {"Authorization": f"Bearer {key}"}


def routes_of(router: APIRouter | FastAPI) -> Iterator[APIRoute]:
    """Yield every route that a request can reach."""
    for route in router.routes:
        if isinstance(route, APIRoute):
            yield route
        else:
            yield from routes_of(route.original_router)  # pyright: ignore[reportAttributeAccessIssue]


STATELESS = ("/v1/compile", "/v1/xray", "/xray")
ASK_WITH_A_BODY = (
    "/v1/kernels/lookup",
    "/v1/kernels/lookup/batch",
    "/v1/explain",
)  # change nothing, though they are POST


def test_every_route_declares_one_scope_and_those_that_change_need_more_than_reading(app: FastAPI) -> None:
    open_routes: set[str] = set()
    routes = list(routes_of(app))
    assert len(routes) > 25
    for route in routes:
        assert route.methods is not None
        needs = [d.call for d in route.dependant.dependencies if isinstance(d.call, Needs)]
        assert len(needs) == 1, f"{route.path} declares {len(needs)} scopes"
        if needs[0].scope is None:
            open_routes.add(route.path)
        elif not route.methods & {"GET", "HEAD"} and route.path not in ASK_WITH_A_BODY:
            assert needs[0].scope.includes(Scope.TUNE), route.path
        assert isinstance(route, GuardedRoute) == route.path.startswith("/v1/"), route.path
        if route.path.startswith(("/v1/keys", "/v1/audit")):
            assert needs[0].scope is Scope.ADMIN
    assert open_routes == {"/healthz", "/readyz", "/static/{name:path}", "/session", "/session/end"}


def test_every_route_that_changes_something_knows_who_asks(app: FastAPI) -> None:
    """Routes that write take the actor for the audit log; a compilation or x-ray changes nothing."""
    for route in routes_of(app):
        scope = next(d.call.scope for d in route.dependant.dependencies if isinstance(d.call, Needs))
        if scope not in (None, Scope.READ) and route.methods != {"GET"} and route.path not in STATELESS:
            assert "by" in inspect.signature(route.endpoint).parameters, route.path


def test_no_body_is_read_before_the_key_is_checked(client: TestClient, context: Context) -> None:
    """Refusals without a key must reveal nothing about the validity of a body."""
    read = bearer(make_key(context, "read"))
    bodies = {"application/json": b"{", "text/plain": b"x", "application/x-www-form-urlencoded": b"m=5"}
    for path in ("/v1/jobs", "/v1/schedules", "/v1/keys", "/v1/compile"):
        for content_type, body in bodies.items():
            headers = {"Content-Type": content_type}
            assert client.post(path, content=body, headers=headers).json()["rule"] == "key-missing"
            assert client.post(path, content=body, headers=headers | read).json()["rule"] == "scope"


def test_without_any_key_loopback_is_open_and_other_addresses_are_not(
    client: TestClient, settings: Settings, clock: Clock, context: Context
) -> None:
    assert client.get("/v1/jobs").status_code == 200
    public = settings.model_copy(update={"host": "0.0.0.0"})
    others = TestClient(create_app(public, invented_devices, clock))
    answer = others.get("/v1/jobs")
    assert (answer.status_code, answer.json()["rule"]) == (401, "key-missing")
    assert "xetune keys create" in answer.json()["detail"]
    assert others.get("/readyz").status_code == 200
    with context.database.read() as session:
        refusal = check_closed(public, session)
        assert check_closed(settings, session) is None
    assert refusal is not None
    assert "xetune keys create" in refusal
    key = make_key(context, "read")
    with context.database.read() as session:
        assert check_closed(public, session) is None
    assert others.get("/v1/jobs", headers=bearer(key)).status_code == 200


def test_from_the_first_key_on_everything_but_health_needs_one(client: TestClient, context: Context) -> None:
    post_job(client)
    key = make_key(context)
    for path in ("/v1/jobs", "/v1/devices", "/v1/kernels?m=5&n=6&k=64", "/v1/schedules", "/v1/keys", "/openapi.json"):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["rule"]) == (401, "key-missing"), path
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert answer.headers["content-type"] == "application/problem+json"
        assert client.get(path, headers=bearer(key)).status_code in (200, 404), path
    assert [client.get(path).status_code for path in ("/healthz", "/readyz")] == [200, 200]


def test_a_key_that_does_not_work_is_told_apart_only_to_its_owner(
    client: TestClient, context: Context, clock: Clock
) -> None:
    make_key(context)
    expiring = make_key(context, name="old", expires_at="2026-03-05T00:00:00Z")
    revoked = make_key(context, name="gone")
    with context.database.write() as session:
        service.revoke(session, service.find(session, "gone"), context.now(), COMMAND_LINE)
    clock.step(days=1)
    other_secret = expiring[:-1] + ("A" if expiring[-1] != "A" else "B")
    shown = {
        bearer(expiring)["Authorization"]: "key-expired",
        bearer(revoked)["Authorization"]: "key-revoked",
        bearer(other_secret)["Authorization"]: "key-unknown",
        bearer(new_token().text)["Authorization"]: "key-unknown",
        "Bearer": "key-malformed",
        "Bearer xetune_": "key-malformed",
        "Basic bWU6bWU=": "key-malformed",
        "Bearer ' OR 1=1 --": "key-malformed",
    }
    for header, rule in shown.items():
        answer = client.get("/v1/jobs", headers={"Authorization": header})
        assert (answer.status_code, answer.json()["rule"]) == (401, rule), header
        assert header[20:] == "" or header[20:] not in answer.text


@pytest.mark.parametrize(("scope", "passes"), [("read", 1), ("tune", 2), ("admin", 3)])
def test_a_scope_includes_those_below_and_none_above(
    client: TestClient, context: Context, scope: str, passes: int
) -> None:
    headers = bearer(make_key(context, scope))
    statuses = [
        client.get("/v1/jobs", headers=headers).status_code,
        client.post("/v1/jobs", json=BODY, headers=headers).status_code,
        client.get("/v1/keys", headers=headers).status_code,
    ]
    assert [status < 300 for status in statuses] == [i < passes for i in range(3)]
    assert all(status == 403 for status in statuses[passes:])


def test_admins_make_list_and_revoke_keys_and_see_a_secret_once(
    client: TestClient, context: Context, clock: Clock
) -> None:
    headers = bearer(make_key(context))
    made = client.post("/v1/keys", json={"name": "ci", "scope": "read"}, headers=headers)
    assert made.status_code == 201
    own = bearer(made.json()["key"])
    taken = client.post("/v1/keys", json={"name": "ci", "scope": "read"}, headers=headers)
    assert (taken.status_code, taken.json()["rule"]) == (409, "unique-name")
    past = client.post(
        "/v1/keys", json={"name": "x", "scope": "read", "expires_at": "2020-01-01T00:00:00Z"}, headers=headers
    )
    assert (past.status_code, past.json()["rule"]) == (400, "expires-at")
    clock.step(minutes=5)
    assert client.get("/v1/jobs", headers=own).status_code == 200
    listed = client.get("/v1/keys", headers=headers)
    assert made.json()["key"] not in listed.text
    (ci,) = [key for key in listed.json()["keys"] if key["name"] == "ci"]
    assert ci["last_used_at"] == "2026-03-04T12:05:30Z"
    path = f"/v1/keys/{ci['id']}/revoke"
    first, second = (client.post(path, headers=headers).json() for _ in range(2))
    assert first["revoked_at"] == second["revoked_at"] is not None
    assert client.get("/v1/jobs", headers=own).status_code == 401
    assert client.post("/v1/keys", json={"name": "ci", "scope": "tune"}, headers=headers).status_code == 201


def test_the_last_keys_end_does_not_open_the_service(client: TestClient, context: Context) -> None:
    make_key(context)
    with context.database.write() as session:
        service.revoke(session, service.find(session, "me"), context.now(), COMMAND_LINE)
        assert api_keys.any_made(session)
    assert client.get("/v1/jobs").status_code == 401


def test_what_is_kept_and_logged_of_a_key_does_not_tell_it(
    client: TestClient, context: Context, sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.WARNING, "httpx2")  # the client's own
    key = make_key(context)
    secret = key[20:]
    assert client.get("/v1/jobs", headers=bearer(key)).status_code == 200
    assert client.get("/v1/jobs", headers=bearer(key[:-1] + "?")).status_code == 401
    assert client.get(f"/v1/jobs?key={key}").status_code == 401  # never of an address, which logs and histories keep
    dump = "\n".join(sqlite3.connect(sqlite_url.removeprefix("sqlite:///")).iterdump())
    assert key[7:19] in dump
    for text in (dump, caplog.text, repr(read_token(key))):
        assert secret not in text


def test_processes_of_this_machine_need_no_key_only_where_the_setting_says_so(
    settings: Settings, clock: Clock, context: Context
) -> None:
    make_key(context)
    app = create_app(settings.model_copy(update={"open_on_loopback": True}), invented_devices, clock)
    here, there = TestClient(app, client=("127.0.0.1", 50000)), TestClient(app, client=("192.0.2.7", 50000))
    assert here.get("/v1/keys").status_code == 200
    assert here.get("/v1/keys", headers={"X-Forwarded-For": "192.0.2.7"}).status_code == 401
    assert here.get("/v1/keys", headers=bearer(new_token().text)).status_code == 401
    assert there.get("/v1/keys").status_code == 401
    assert TestClient(create_app(settings, invented_devices, clock), client=("127.0.0.1", 1)).get("/v1/keys").is_error


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("LOCALHOST", True), ("0.0.0.0", False), ("::", False),
     ("192.0.2.7", False), ("localhost.example", False), ("", False)],
)  # fmt: skip
def test_loopback_is_what_only_this_machine_reaches(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_the_command_line_makes_lists_and_revokes(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XETUNE_DATA_DIR", str(settings.data_dir))
    monkeypatch.setenv("XETUNE_DATABASE_URL", settings.database_url)
    runner = CliRunner()
    made = runner.invoke(command_line, ["keys", "create", "ci", "--scope", "tune", "--expires", "90d"])
    assert made.exit_code == 0, made.output
    assert read_token(made.output.splitlines()[-1]) is not None
    for wrong in (["create", "x", "--expires", "soon"], ["create", "x", "--expires", "0d"], ["revoke", "nobody"]):
        assert runner.invoke(command_line, ["keys", *wrong]).exit_code != 0
    assert runner.invoke(command_line, ["keys", "revoke", "ci"]).exit_code == 0
    listed = json.loads(runner.invoke(command_line, ["keys", "--json"]).stdout)
    assert [(key["name"], key["scope"], key["revoked_at"] is not None) for key in listed["keys"]] == [
        ("ci", "tune", True)
    ]
    assert "ci" in runner.invoke(command_line, ["keys"]).stdout


def test_serve_is_refused_where_others_could_come_in_without_a_key(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "DATA_DIR": str(settings.data_dir),
        "DATABASE_URL": settings.database_url,
        "HOST": "0.0.0.0",
        "PORT": str(free_port()),
    }.items():
        monkeypatch.setenv(f"XETUNE_{name}", value)
    refused = CliRunner().invoke(command_line, ["serve", "--no-worker"])
    assert "xetune keys create NAME --scope admin" in str(refused.exception)
