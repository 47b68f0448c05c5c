"""Addresses of pages that say what cannot be understood: filters, sorts and ids."""

import re
from html import unescape
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from service.dashboard import rendering
from service.dashboard.problem_filter import LABELS
from service.http.context import Context
from tests.service import dashboard_rows as rows

_NO_ID = "01a20376-2524-7f04-ab73"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("/jobs?m=abc", "M: expected a whole number from 1 to 16,777,216, got 'abc'."),
        ("/jobs?n=-1", "N: expected a whole number from 1 to 16,777,216, got '-1'."),
        ("/problems?k=1.5", "K: expected a whole number from 1 to 16,777,216, got '1.5'."),
        ("/kernels?m=99999999999999999999", "got '99999999999999999999'."),
        ("/jobs?m=0", "got '0'."),
        ("/jobs?status=foo", "Status: expected one of queued, running, succeeded, failed, cancelled, got 'foo'."),
        ("/jobs?dtype=f8", "Inputs: expected one of f16, bf16, tf32, f32, s8, u8, e4m3, e5m2, s4, u4, e2m1, got 'f8'."),
        ("/kernels?evidence=guessed", "Time is: expected one of measured, emulated, predicted, none, got 'guessed'."),
        ("/jobs?before=x", "before (in the address): expected an id of this list, got 'x'."),
        (f"/kernels?before={_NO_ID}", f"before (in the address): expected an id of this list, got '{_NO_ID}'."),
        ("/problems?before=x", "before (in the address): expected a number of this list, got 'x'."),
    ],
)
def test_a_filter_that_cannot_be_understood_shows_nothing_and_says_why(
    client: TestClient, context: Context, address: str, said: str
) -> None:
    with context.database.write() as session:
        problem, device = rows.add_problem(session), rows.add_device(session)
        rows.add_kernel(session, rows.add_job(session, problem, device), problem)
    path = address.partition("?")[0]
    assert 'data-label="Problem"' in client.get(path).text
    page = client.get(address)
    assert page.status_code == 200
    assert 'data-label="Problem"' not in page.text
    assert said in unescape(page.text)
    assert f'href="{path}">All ' in page.text


def test_a_table_of_trials_says_what_it_was_asked_for_and_does_not_know(client: TestClient, context: Context) -> None:
    with context.database.write() as session:
        job = rows.add_job(session, rows.add_problem(session), rows.add_device(session))
        rows.add_predicted(session, job, 0, 25.0)
        address = f"/jobs/{job.id}"
    text = unescape(client.get(f"{address}?outcome=lost&sort=speed").text)
    assert "Outcome: expected one of measured, predicted, failed, " in text
    assert "sort (in the address): expected one of time, -time, number, -number, got" in text
    assert "got 'speed'." in text
    assert 'data-label="Trial"' in text
    assert "expected one of" not in client.get(f"{address}?outcome=measured&sort=number").text


def test_an_error_names_a_field_as_its_form_does() -> None:
    field = re.compile(r"<label>([^<{]+) <(?:select|input) name=\"([a-z_]+)\"")
    templates = Path(rendering.__file__).parent / "templates"
    filters = re.compile(r"<form class=\"filters\".*?</form>", re.S)
    found = {
        (name, label)
        for path in templates.rglob("*.html")
        for form in filters.findall(path.read_text())
        for label, name in field.findall(form)
        if name in LABELS
    }
    assert found == {(name, label) for name, label in LABELS.items() if name not in "mnkxy"}


@pytest.mark.parametrize(
    "path", ["/shapes/none", "/shapes/none/live", "/shapes/none/charts/gains", "/shapes/none/shapes.csv"]
)
def test_a_set_of_no_id_is_not_found(client: TestClient, path: str) -> None:
    page = client.get(path)
    assert page.status_code == 404
    assert "no set of shapes has the id none" in page.text


def test_a_schedule_of_no_id_is_not_found(client: TestClient) -> None:
    page = client.get(f"/schedules/{_NO_ID}")
    assert page.status_code == 404
    assert f"no schedule has the id {_NO_ID}" in page.text


@pytest.mark.parametrize("said", ["x", _NO_ID, "-1", "1e3"])
def test_a_page_of_older_sets_that_cannot_be_understood_shows_none_and_says_why(
    client: TestClient, context: Context, said: str
) -> None:
    shapes = {"text": "m=16 n=96 k=160", "device": "b580"}
    made = client.post("/v1/shape-sets", json=shapes).json()["id"]
    assert f'href="/shapes/{made}"' in client.get("/shapes?before=").text
    page = client.get(f"/shapes?before={said}")
    assert page.status_code == 200
    assert f"before (in the address): expected an id of this list, got '{said}'." in unescape(page.text)
    assert f'href="/shapes/{made}"' not in page.text
    assert 'href="/shapes">All sets' in page.text


@pytest.mark.parametrize("said", ["x", _NO_ID, "-1", "1" * 20])
def test_a_page_of_older_runs_that_cannot_be_understood_shows_none_and_says_why(client: TestClient, said: str) -> None:
    schedule = {"name": "nightly", "cron": "1 2 * * *", "stale": {"devices": ["b580"]}}
    made = client.post("/v1/schedules", json=schedule).json()["id"]
    client.post(f"/v1/schedules/{made}/run").raise_for_status()
    assert 'data-label="Handled"' in client.get(f"/schedules/{made}?before=").text
    page = client.get(f"/schedules/{made}?before={said}")
    assert page.status_code == 200
    assert f"before (in the address): expected a number of this list, got '{said}'." in unescape(page.text)
    assert 'data-label="Handled"' not in page.text
    assert "No earlier run." in client.get(f"/schedules/{made}?before=0").text


def test_forms_ask_for_no_more_than_the_service_takes(client: TestClient, context: Context) -> None:
    settings = context.settings
    for path, prefix in (("/", ""), ("/schedules", "job."), ("/shapes", "")):
        html = client.get(path).text
        assert f'name="{prefix}budget.trials" type="number" min="1" max="{settings.max_trials}"' in html
        assert f'name="{prefix}budget.seconds" type="number" min="0.1" max="{settings.max_seconds:.0f}"' in html
    assert 'name="problem.m" type="number" min="1" max="16777216"' in client.get("/").text
