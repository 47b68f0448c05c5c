"""Requests, commands and forms leave the same budget to a job."""

import json

import pytest
from fastapi.testclient import TestClient

from service.api.jobs.defaults import SECONDS, TRIALS
from service.api.jobs.schemas import BudgetBody
from service.cli.tuning import running
from service.dashboard.forms import first_job
from tests.service.cli.both_transports import Run
from xetune_client import models

PROBLEM = {"m": 24, "n": 40, "k": 56}
BUDGET = {"trials": TRIALS, "seconds": SECONDS, "no_gain": None, "roofline": None}


pytestmark = pytest.mark.usefixtures("one_database")


def test_a_request_and_a_command_leave_a_job_the_same_budget(
    run: Run, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "work_on_job", lambda *_, **__: None)
    asked = client.post("/v1/jobs", json={"problem": PROBLEM, "device": "b580"}).json()
    _, told, errors = run("--server", "http://testserver", "tune", "24x40x56", "--device", "b580")
    assert f"resuming job {asked['id']}" in told, errors
    assert asked["budget"] == BUDGET


def test_a_schedule_of_stale_results_has_the_budget_of_a_job(run: Run) -> None:
    status, told, errors = run(
        "--server",
        "http://testserver",
        "schedules",
        "create",
        "nightly",
        "--cron",
        "30 2 * * *",
        "--stale",
        "5",
        "--json",
    )
    assert status == 0, errors
    assert json.loads(told)["stale"]["budget"] == BUDGET


def test_the_description_of_the_api_states_it() -> None:
    fields = BudgetBody.model_json_schema()["properties"]
    assert (fields["trials"]["default"], fields["seconds"]["default"]) == (TRIALS, SECONDS)
    assert models.BudgetBody().trials == TRIALS


def test_a_form_begins_with_it() -> None:
    assert first_job().budget == BudgetBody.model_validate(BUDGET)


def test_the_help_states_it(run: Run) -> None:
    status, told, _ = run("tune", "--help")
    assert status == 0
    assert f"default: {TRIALS};" in told
    assert f"default: {SECONDS}]" in told
