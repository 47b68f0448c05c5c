"""xetune jobs study: Optuna loads what it writes, and optuna-dashboard shows it."""

import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import optuna
import pytest
from optuna.trial import TrialState

from service.cli.main import main
from tests.system.processes import free_port
from tests.tuner.exchange.lines import JOB, results, text_of

Run = Callable[..., int | str | None]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sqlite_url: str) -> Run:
    """Run `xetune` on a database that holds one imported job; return the exit status."""
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("XETUNE_DATABASE_URL", sqlite_url)

    def called(*arguments: str) -> int | str | None:
        monkeypatch.setattr(sys, "argv", ["xetune", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code

    (tmp_path / "results.jsonl").write_bytes(text_of(results()))
    assert called("import", str(tmp_path / "results.jsonl")) == 0
    return called


@pytest.mark.slow
def test_a_job_is_written_as_a_study_that_optuna_loads(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "study.db"
    assert run("jobs", "study", JOB, "--output", str(path)) == 0
    study = optuna.load_study(study_name=f"job {JOB}", storage=f"sqlite:///{path}")
    by_outcome = {trial.user_attrs["outcome"]: trial for trial in study.trials}
    measured = by_outcome["measured"]
    assert (measured.state, measured.value) == (TrialState.COMPLETE, measured.values[0])
    assert measured.user_attrs["evidence"].startswith("measured, ")
    assert {"threads_m", "block_k", "innermost_n", "loop_order", "sg_layout", "prefetch_distance", "slm"} <= set(
        measured.params
    )
    assert study.best_value == min(trial.value for trial in study.trials if trial.value is not None)
    for trial in study.trials:
        assert (trial.state is TrialState.PRUNED) == ("reason" in trial.user_attrs)
    capsys.readouterr()
    assert run("jobs", "study", JOB, "--output", str(path)) == 2
    assert "remove it, or write to another file" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("optuna_dashboard") is None, reason="optuna-dashboard is not installed (pip install it)"
)
def test_optuna_dashboard_shows_a_written_study(run: Run, tmp_path: Path) -> None:
    path, port = tmp_path / "study.db", free_port()
    assert run("jobs", "study", JOB, "--output", str(path)) == 0
    start = "from optuna_dashboard._cli import main; main()"
    with subprocess.Popen([sys.executable, "-c", start, f"sqlite:///{path}", "--port", str(port)]) as dashboard:
        try:
            summary = _get(f"http://127.0.0.1:{port}/api/studies")["study_summaries"][0]
            assert summary["study_name"] == f"job {JOB}"
            detail = _get(f"http://127.0.0.1:{port}/api/studies/{summary['study_id']}?after=0")
            assert len(detail["trials"]) == len(optuna.load_study(study_name=None, storage=f"sqlite:///{path}").trials)
        finally:
            dashboard.terminate()


def _get(url: str) -> dict[str, Any]:
    """Return JSON as soon as the dashboard answers."""
    until_s = time.monotonic() + 60
    while True:
        try:
            with urlopen(url) as answer:
                return json.load(answer)
        except URLError:
            assert time.monotonic() < until_s, "the dashboard does not answer"
            time.sleep(0.2)
