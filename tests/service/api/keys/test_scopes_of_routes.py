"""Every route of the application with every kind of key: the matrix is made of the routes themselves.

A route declares its scope once, as a dependency; what it then answers to each key is derived from that, so that a new
route without a scope, or one that does not check it, fails here.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from service.api.keys import service
from service.api.keys.caller import COMMAND_LINE, Scope
from service.api.keys.callers import COOKIE
from service.api.keys.guard import Needs
from service.api.keys.tokens import new_token
from service.http.context import Context
from service.settings import Settings
from tests.service.api.keys.test_keys import bearer, make_key, routes_of
from tests.service.rest import Clock

NOBODYS = str(UUID(int=7))
REFUSED = {401: {"key-missing", "key-unknown", "key-expired", "key-revoked"}, 403: {"scope"}}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of a route, and the scope that the route declares; None is open to all."""

    method: str
    path: str
    scope: Scope | None


def requests_of(app: FastAPI) -> Iterator[Asked]:
    """Yield a request for each route and method, with ids that nothing has."""
    for route in routes_of(app):
        (needs,) = [d.call for d in route.dependant.dependencies if isinstance(d.call, Needs)]
        assert route.methods is not None
        for method in sorted(route.methods):
            yield Asked(method, path_of(route), needs.scope)


def path_of(route: APIRoute) -> str:
    """Return a path of a route: an id in place of each parameter."""
    return re.sub(r"\{[^}]*\}", NOBODYS, route.path)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings without a limit of requests, of which these are hundreds from one address."""
    return settings.model_copy(update={"rate_per_s": 0.0})


@pytest.fixture
def keys(context: Context, clock: Clock) -> dict[str, str | None]:
    """A key of each kind by its name."""
    ends = (clock() + timedelta(hours=1)).isoformat()
    made: dict[str, str | None] = {scope.value: make_key(context, scope.value, scope.value) for scope in Scope}
    made |= {"key-missing": None, "key-unknown": new_token().text}
    made |= {
        "key-expired": make_key(context, name="old", expires_at=ends),
        "key-revoked": make_key(context, name="gone"),
    }
    with context.database.write() as session:
        service.revoke(session, service.find(session, "gone"), context.now(), COMMAND_LINE)
    clock.step(hours=2)
    return made


def expected(scope: Scope | None, key: str) -> tuple[int, str] | None:
    """Return the refusal that a route with this scope owes to a key; None if it has to let it in."""
    if scope is None:
        return None
    if key.startswith("key-"):
        return 401, key
    return None if Scope(key).includes(scope) else (403, "scope")


def refusal(client: TestClient, asked: Asked, headers: dict[str, str]) -> tuple[int, str | None] | None:
    """Return status and rule of a refusal, no rule where a page tells it in words; None if the request came in."""
    # A body that no route can read: what passes the check of the key changes nothing.
    headers = headers | {
        "Accept": "application/json",
        "Content-Type": "application/json",
        "Origin": "http://testserver",
    }
    body = None if asked.method in ("GET", "HEAD") else b"{"
    answer = client.request(asked.method, asked.path, headers=headers, content=body, follow_redirects=False)
    assert answer.status_code < 500 or answer.status_code == 503, (asked, answer.text)
    if answer.status_code not in REFUSED:
        return None
    if asked.method == "HEAD" or answer.headers["content-type"].startswith("text/html"):
        return answer.status_code, None
    rule = answer.json()["rule"]
    return (answer.status_code, rule) if rule in REFUSED[answer.status_code] else None


def is_same(owed: tuple[int, str] | None, got: tuple[int, str | None] | None) -> bool:
    """Return whether a refusal is the one that was owed."""
    if owed is None or got is None:
        return owed is got
    return got[0] == owed[0] and got[1] in (None, owed[1])


def test_each_route_refuses_each_key_that_lacks_its_scope_and_no_other(
    app: FastAPI, client: TestClient, keys: dict[str, str | None]
) -> None:
    wrong: list[str] = []
    matrix = [(asked, name, key) for asked in requests_of(app) for name, key in keys.items()]
    assert len(matrix) >= 7 * 100
    for asked, name, key in matrix:
        owed = expected(asked.scope, name)
        got = refusal(client, asked, {} if key is None else bearer(key))
        if not is_same(owed, got):
            wrong.append(f"{asked.method} {asked.path} ({asked.scope}) with {name}: expected {owed}, got {got}")
    assert wrong == []


@pytest.mark.slow
def test_pages_take_the_cookie_as_they_take_the_header(
    app: FastAPI, client: TestClient, keys: dict[str, str | None]
) -> None:
    pages = [asked for asked in requests_of(app) if asked.method == "GET" and not asked.path.startswith("/v1/")]
    assert len(pages) > 20
    for asked in pages:
        for name in ("read", "key-expired", "key-revoked", "key-unknown"):
            got = refusal(client, asked, {"Cookie": f"{COOKIE}={keys[name]}"})
            assert is_same(expected(asked.scope, name), got), (asked, name, got)


@pytest.mark.parametrize("declare", [lambda app: app.get("/v1/new"), lambda app: app.delete("/new/{id}")])
def test_a_new_route_without_a_scope_is_noticed(
    app: FastAPI, declare: Callable[[FastAPI], Callable[[Callable[[], None]], None]]
) -> None:
    def answer() -> None:
        """Answer nothing."""

    declare(app)(answer)
    with pytest.raises(ValueError, match="not enough values to unpack"):
        list(requests_of(app))


def test_no_address_is_served_beside_the_routes(app: FastAPI) -> None:
    """Mounted applications and plain routes of the framework would be outside of the matrix."""
    kinds = {type(route).__name__ for route in app.router.routes}
    assert kinds <= {"APIRoute", "GuardedRoute", "LookupRoute", "_IncludedRouter"}, kinds
