"""The study of a job's trials: Optuna loads it, with states, values and attributes."""

from datetime import UTC, datetime
from pathlib import Path

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, IntDistribution
from optuna.trial import TrialState

from tuner.search.samplers.study_file import StudyTrial, write_study

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TRIALS = [
    StudyTrial({"block_m": 64, "slm": "none"}, 12.5, AT, AT, {"outcome": "measured", "reason": None}),
    StudyTrial({"block_m": 128, "slm": "a"}, None, AT, AT, {"outcome": "rejected", "reason": "refused by rule grf"}),
    StudyTrial({"block_m": 32, "slm": "none"}, 9.75, AT, AT, {"outcome": "predicted"}),
    StudyTrial({"block_m": 32, "slm": "a"}, None, AT, None, {"outcome": "pending"}),
]


def test_optuna_loads_a_written_study(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    write_study(path, "job 7", TRIALS, {"device": "b580"})
    study = optuna.load_study(study_name=None, storage=f"sqlite:///{path}")
    complete, pruned, running = TrialState.COMPLETE, TrialState.PRUNED, TrialState.RUNNING
    assert (study.study_name, study.user_attrs) == ("job 7", {"device": "b580"})
    assert [(t.number, t.state, t.value) for t in study.trials] == [
        (0, complete, 12.5),
        (1, pruned, None),
        (2, complete, 9.75),
        (3, running, None),
    ]
    assert [dict(t.params) for t in study.trials] == [dict(trial.params) for trial in TRIALS]
    assert study.trials[1].user_attrs == {"outcome": "rejected", "reason": "refused by rule grf"}
    assert study.trials[0].distributions == {
        "block_m": IntDistribution(32, 128),
        "slm": CategoricalDistribution(("none", "a")),
    }
    assert (study.best_trial.number, study.best_params) == (2, {"block_m": 32, "slm": "none"})
    assert study.trials[0].datetime_start == AT.astimezone().replace(tzinfo=None)


def test_a_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    path.touch()
    with pytest.raises(FileExistsError, match="remove it, or write to another file"):
        write_study(path, "job 7", TRIALS, {})
