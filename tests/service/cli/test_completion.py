"""Shell completion by each shell's protocol."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from db.migrate import prepare
from db.queries import jobs
from service.cli import completing, main
from service.cli.bash_words import rejoined
from tests.service import dashboard_rows as rows

Complete = Callable[[str], list[str]]


@pytest.fixture
def fish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Complete:
    """Return fish's completions of a line that ends at the cursor."""
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("XETUNE_SERVER", raising=False)
    monkeypatch.setattr(sys, "argv", ["xetune"])

    def complete(line: str) -> list[str]:
        monkeypatch.setenv("_XETUNE_COMPLETE", "complete_fish")
        monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
        capsys.readouterr()
        with pytest.raises(SystemExit):
            main.main()
        told = capsys.readouterr()
        assert told.err == ""
        return [value.partition("\t")[0] for value in told.out.splitlines() if value]

    return complete


def test_commands_options_devices_types_and_presets_are_completed(fish: Complete) -> None:
    assert fish("xetune ex") == ["explain", "export"]
    assert fish("xetune shapes re") == ["resume"]
    assert {"--device", "--deterministic"} <= set(fish("xetune tune --de"))
    assert "b580" in fish("xetune tune --device b")
    assert fish("xetune tune --dtype bf") == ["bf16"]
    assert fish("xetune tune --shapes llama-3.2") == ["llama-3.2-1b"]


def test_ids_come_from_the_database_and_none_is_made_for_it(
    fish: Complete, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fish("xetune jobs show ") == []
    assert list(tmp_path.iterdir()) == []
    database = prepare(f"sqlite:///{tmp_path / 'xetune.sqlite'}", create=True)
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session), "succeeded")
        jobs.update_best(session, job.id)
        made = str(job.id)
    database.close()
    monkeypatch.setattr(completing, "_BOUND_S", 60.0)  # this machine may be busy
    assert fish("xetune jobs show ") == [made]
    assert fish(f"xetune export --job {made[:6]}") == [made]


def test_a_service_that_is_not_there_or_silent_leaves_the_shell_its_prompt(
    fish: Complete, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completing, "_BOUND_S", 0.1)
    assert fish("xetune --server http://127.0.0.1:9 jobs show ") == []
    assert fish("xetune --server nonsense: jobs show ") == []


@pytest.mark.parametrize(
    ("words", "at", "whole", "place"),
    [
        (["xetune", "jobs", ""], 2, ["xetune", "jobs", ""], 2),
        (["xetune", "--server", "http", ":", "//h", ":", "1", "jo"], 7, ["xetune", "--server", "http://h:1", "jo"], 3),
        (["xetune", "tune", "--device", "=", "b5"], 4, ["xetune", "tune", "--device=b5"], 2),
        (["xetune", "tune", "--device", "="], 3, ["xetune", "tune", "--device="], 2),
        (["xetune", "jobs"], 2, ["xetune", "jobs"], 2),
    ],
)
def test_words_that_bash_cut_are_put_together(words: list[str], at: int, whole: list[str], place: int) -> None:
    assert rejoined(words, at) == (whole, place)
