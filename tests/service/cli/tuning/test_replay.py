"""xetune replay at the command line: a table, JSON, and files that are refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from service.cli.main import main
from tests.tuner.exchange.test_kernel_tuner import cache, text_of
from tuner.search.method import Method


def _run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    """The exit status."""
    monkeypatch.setattr("sys.argv", ["xetune", "replay", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A cache of four configurations, two with a time."""
    path = tmp_path / "cache.json"
    path.write_text(text_of(cache()))
    return path


def test_searches_are_told_with_what_chance_finds(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not _run(monkeypatch, str(file), "--search", "random", "--search", "gp", "--seeds", "3", "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["configurations"], told["timed"], told["best_us"]) == (4, 2, 1250.0)
    assert [line["search"] for line in told["searches"]] == ["chance, calculated", "random", "gp"]
    assert all(line["fraction"]["4"] == 1.0 for line in told["searches"])


def test_it_is_a_table_too(file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert not _run(monkeypatch, str(file), "--seeds", "2", "--warm", str(file))
    assert "4 configurations, 2 with a time, 3 axes" in capsys.readouterr().out


def test_every_search_runs_but_the_one_that_needs_predictions(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    others = [method.value for method in Method if method is not Method.MODEL]
    chosen = [word for method in others for word in ("--search", method)]
    assert not _run(monkeypatch, str(file), *chosen, "--seeds", "1", "--json")
    assert [line["search"] for line in json.loads(capsys.readouterr().out)["searches"]][1:] == others
    assert _run(monkeypatch, str(file), "--search", "model") == 2
    assert "begins with predicted times" in capsys.readouterr().err


@pytest.mark.parametrize("spoil", [lambda text: "{}", lambda text: text[:40]])
def test_what_is_no_recording_is_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], spoil: Callable[[str], str]
) -> None:
    file.write_text(spoil(file.read_text()))
    assert _run(monkeypatch, str(file)) == 2
    assert capsys.readouterr().err
