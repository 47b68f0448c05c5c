"""Errors as a browser sees them: pages with what to do; programs get problem+json."""

from html import unescape

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from service.http.context import Context
from service.settings import Settings
from tests.service.api.keys.test_keys import bearer, make_key

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/nothing/here", 404, "nothing is at /nothing/here"),
        ("/v1/nothing", 404, "nothing is at /v1/nothing"),
        ("/jobs/none", 404, "no job has the id none"),
        ("/schedules/none", 404, "no schedule has the id none"),
        ("/v1/jobs/none", 422, "job_id"),
    ],
)
def test_a_browser_gets_a_page_and_a_program_json(client: TestClient, path: str, status: int, said: str) -> None:
    page = client.get(path, headers=BROWSER)
    assert (page.status_code, page.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert said in unescape(page.text)
    assert 'href="/"' in page.text
    assert "script-src 'self'" in page.headers["content-security-policy"]
    if path.startswith(("/v1", "/nothing")):
        for accept in ("*/*", "application/json", "application/json, text/html"):
            answer = client.get(path, headers={"Accept": accept})
            assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")


def test_what_may_only_be_posted_says_so(client: TestClient) -> None:
    page = client.get("/session/end", headers=BROWSER)
    assert page.status_code == 405
    assert page.headers["allow"] == "POST"
    assert "GET is not allowed here" in page.text


def test_keys_are_asked_for_where_one_is_missing_or_not_enough(client: TestClient, context: Context) -> None:
    reading = bearer(make_key(context, "read", name="reads"))
    page = client.get("/v1/jobs?limit=3", headers=BROWSER)
    assert page.status_code == 401
    assert 'name="next" value="/v1/jobs?limit=3"' in page.text
    refused = client.get("/v1/audit", headers=BROWSER | reading)
    assert refused.status_code == 403
    assert "the API key 'reads' is for read, this needs admin" in unescape(refused.text)
    assert 'name="next" value="/v1/audit"' in refused.text


def test_a_fault_of_ours_names_the_request(app: FastAPI) -> None:
    @app.get("/broken")
    def broken() -> None:
        raise ZeroDivisionError("secret text")

    client = TestClient(app, raise_server_exceptions=False)
    page = client.get("/broken", headers=BROWSER | {"X-Request-Id": "mine-7"})
    assert page.status_code == 500
    assert "<code>mine-7</code>" in page.text
    assert "ZeroDivisionError" in page.text
    assert "secret text" not in page.text
    assert client.get("/broken").headers["content-type"] == "application/problem+json"


def test_a_database_that_is_away_is_told(client: TestClient, settings: Settings, app: FastAPI) -> None:
    context: Context = app.state.context
    context.database.close()
    (path := settings.data_dir / "gone").mkdir()
    for file in settings.data_dir.glob("*.sqlite*"):
        file.rename(path / file.name)
    page = client.get("/jobs", headers=BROWSER)
    assert page.status_code == 503
    assert page.headers["retry-after"] == "5"
    assert "Database unavailable" in page.text
    assert 'href="/readyz"' in page.text
