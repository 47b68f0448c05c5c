"""xetune tune --search with the name of a sampler: of Optuna, or of a user."""

import json
import sys
from pathlib import Path

import psutil
import pytest

from service.cli.tuning import running
from tests.service.cli.both_transports import Run

pytestmark = pytest.mark.usefixtures("one_database")

TUNE = ("tune", "--m", "24", "--n", "40", "--k", "56", "--device", "b580", "--trials", "10", "--seconds", "300")
_SAMPLER = "from optuna.samplers import RandomSampler\n\n\nclass Mine(RandomSampler):\n    pass\n"


@pytest.fixture
def sampler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a module with a sampler, and return its name."""
    (tmp_path / "user_samplers.py").write_text(_SAMPLER)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "user_samplers", raising=False)
    return "user_samplers:Mine"


@pytest.mark.slow
def test_a_sampler_of_a_user_proposes_in_the_process_of_the_user(run: Run, sampler: str) -> None:
    status, told, errors = run(*TUNE, "--search", sampler, "--json")
    assert status == 0, errors
    job = json.loads(told)
    assert job["search"] == sampler
    status, told, errors = run("jobs", "show", job["id"], "--json")
    assert status == 0, errors
    assert sampler in {trial["proposer"] for trial in json.loads(told)["trials"]}


def test_no_process_that_asked_a_driver_is_left_while_a_job_runs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    before, left = psutil.Process().children(), list[psutil.Process]()

    def work(*_: object, **__: object) -> None:
        left.extend(child for child in psutil.Process().children() if child not in before)

    monkeypatch.setattr(running, "work_on_job", work)
    status, told, errors = run(*TUNE)
    assert (status, "queued" in told) == (1, True), errors
    assert left == []


@pytest.mark.parametrize("words", [(*TUNE,), ("tune", "--shapes", "24x40x56", "--device", "b580")])
def test_a_service_refuses_a_sampler_that_it_does_not_list(run: Run, sampler: str, words: tuple[str, ...]) -> None:
    status, told, error = run("--server", "http://testserver", *words, "--search", sampler)
    assert (status, told, error.count("\n")) == (2, "", 1)
    assert f"expected a sampler that XETUNE_SAMPLERS of the service lists, got '{sampler}'" in error


@pytest.mark.parametrize(
    ("name", "reason"),
    [("hope", "expected portfolio, tpe"), ("no.module:Here", "must be installed or in a folder of PYTHONPATH")],
)
def test_an_unknown_name_is_refused_in_one_line(run: Run, name: str, reason: str) -> None:
    status, told, error = run(*TUNE, "--search", name)
    assert (status, told, error.count("\n")) == (2, "", 1)
    assert error.startswith(f"error: refused by rule unknown-search: the search '{name}' is not known: ")
    assert reason in error
