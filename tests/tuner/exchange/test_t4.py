"""T4 files: their units, what is invalid, and what they cannot be."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuner.errors import InvalidFile
from tuner.exchange.formats import open_file, read_recorded, results_of
from tuner.exchange.t4 import to_t4
from tuner.session.trial import Status

Change = Callable[[dict[str, Any]], object]


def result(block: int, order: str, time: float | None, invalidity: str = "correct", unit: str = "") -> dict[str, Any]:
    """One result; without a time its measurement is the name of an error."""
    return {
        "timestamp": "2025-03-17 07:19:39+00:00",
        "configuration": {"block": block, "order": order},
        "times": {"compilation": 38.5, "framework": 2.0, "search_algorithm": 0, "validation": 0, "runtimes": []},
        "invalidity": invalidity,
        "correctness": 1,
        "measurements": [{"name": "time", "value": "InvalidConfig" if time is None else time, "unit": unit}],
        "objectives": ["time"],
    }


def t4(timeunit: str | None = "milliseconds") -> dict[str, Any]:
    """Two configurations with a time, two without."""
    results = [
        result(16, "row", 2.5),
        result(32, "row", None, "constraints"),
        result(16, "col", 1.25),
        result(32, "col", None, "timeout"),
    ]
    made: dict[str, Any] = {"results": results, "schema_version": "1.0.0"}
    return made if timeunit is None else {**made, "metadata": {"timeunit": timeunit}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Path of a test's file."""
    return tmp_path / "t4.json"


@pytest.mark.parametrize(
    ("timeunit", "us"),
    [("milliseconds", 1e3), ("miliseconds", 1e3), ("Microseconds", 1.0), ("ns", 1e-3), ("seconds", 1e6)],
)
def test_times_are_in_the_unit_that_the_file_says(file: Path, timeunit: str, us: float) -> None:
    file.write_text(json.dumps(t4(timeunit)))
    space = read_recorded(file)
    np.testing.assert_allclose(space.times_us, np.array([2.5, np.nan, 1.25, np.nan]) * us)
    assert [axis.values for axis in space.axes] == [(16, 32), ("row", "col")]


def test_a_unit_of_its_own_goes_before_that_of_the_file(file: Path) -> None:
    made = t4("seconds")
    made["results"][0]["measurements"][0]["unit"] = "us"
    file.write_text(json.dumps(made))
    np.testing.assert_allclose(read_recorded(file).times_us[[0, 2]], [2.5, 1.25e6])


def test_results_say_why_they_are_invalid_and_what_they_took(file: Path) -> None:
    file.write_text(json.dumps(t4()))
    results = results_of(open_file(file))
    assert (results.kernel, results.device, results.problem_size, results.source) == ("", "", (), None)
    assert [tried.status for tried in results.tried] == [
        Status.MEASURED,
        Status.REJECTED,
        Status.MEASURED,
        Status.TIMED_OUT,
    ]
    assert (results.tried[1].reason, results.tried[1].times) == ("T4: constraints", None)
    assert (results.tried[0].compile_s, results.tried[0].verify_s, results.tried[0].measure_s) == (0.0385, 0.0, None)


def test_runs_without_a_measurement_give_their_median(file: Path) -> None:
    made = t4()
    first = made["results"][0]
    first["measurements"], first["times"]["runtimes"] = [], [4.0, 1.0, 2.0]
    file.write_text(json.dumps(made))
    times = results_of(open_file(file)).tried[0].times
    assert times is not None
    assert (times.time_us, times.min_us, times.samples) == (2000.0, 1000.0, 3)


def test_a_file_that_is_written_again_says_the_same(file: Path) -> None:
    file.write_text(json.dumps(t4("seconds")))
    first = results_of(open_file(file))
    file.write_text(json.dumps(to_t4(first)))
    assert results_of(open_file(file)) == first


def drop_units(made: dict[str, Any]) -> None:
    """No unit at all."""
    del made["metadata"]


def score(made: dict[str, Any]) -> None:
    """An objective that is no time."""
    made["results"][0]["objectives"] = ["score"]
    made["results"][0]["measurements"] = [{"name": "score", "value": 0.25, "unit": ""}]


REFUSED: list[tuple[Change, str]] = [
    (drop_units, r"results\[0\].measurements.time: expected a time with its unit, got a number without"),
    (score, r"results\[0\].measurements.score: expected a time with its unit"),
    (lambda f: f.update(schema_version="2.0.0"), "schema_version: expected 1.0.0, got '2.0.0'"),
    (lambda f: f.update(metadata={"timeunit": "fortnights"}), "metadata.timeunit: expected nano-, micro-"),
    (lambda f: f["results"][1].pop("invalidity"), r"results\[1\]: missing invalidity"),
    (lambda f: f["results"][1].update(invalidity="odd"), r"results\[1\].invalidity: expected one of correct, constr"),
    (lambda f: f["results"][2]["configuration"].pop("order"), r"results\[2\].configuration: expected block, order"),
    (lambda f: f["results"][0]["measurements"][0].update(value=-1.0), "time: expected a time above 0, got -1.0"),
    (lambda f: f["results"][0]["times"].update(runtimes=["x"]), r"times.runtimes: expected times above 0"),
    (lambda f: f.update(results=f["results"][1:2]), "none of 1 configurations has a time"),
    (lambda f: f["results"].append(f["results"][0]), "a configuration is recorded twice"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_what_a_file_cannot_be_is_said(file: Path, change: Change, message: str) -> None:
    made = t4()
    change(made)
    file.write_text(json.dumps(made))
    with pytest.raises(InvalidFile, match=message):
        read_recorded(file)
