"""Prediction errors are reported by device and model version, over REST and on the command line."""

import sys
from collections.abc import Collection
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.errors import DatabaseUnavailable
from db.queries.results import predictions
from db.schema.job import Job
from db.schema.target import Problem
from db.session import open_database
from service.api.accuracy.service import accuracy_of
from service.cli.devices.accuracy import known_accuracy
from service.cli.main import main
from service.http.context import Context
from tests.db import rows

OFF = "predictions for b580 by 1 were off by x1.50 (median of 3); measured over predicted: median 1.25, 0.50 to 1.50"


def judge_three(url: str) -> None:
    """Add three predictions of 20 us that were measured at 10, 25 and 30 us."""
    database = open_database(url)
    with database.write() as session:
        job = rows.add_job(session, "b580")
        for number, median_us in enumerate((10.0, 25.0, 30.0)):
            rows.predict(session, rows.add_measured(session, job, number, median_us), 20.0)
        predictions.judge(session, job.problem_id, "b580")
    database.close()


def test_accuracy_is_on_the_wire_by_model(client: TestClient, context: Context) -> None:
    assert client.get("/v1/devices/b580/accuracy").json() == {"device": "b580", "models": []}
    judge_three(context.settings.database_url)
    (of,) = client.get("/v1/devices/b580/accuracy").json()["models"]
    assert of == {
        "model": "1",
        "measured": 3,
        "off_by": 1.5,
        "median_ratio": 1.25,
        "least_ratio": 0.5,
        "most_ratio": 1.5,
        "inside": 0,
    }
    assert client.get("/v1/devices/nosuch/accuracy").status_code == 404


SHOW, EXPLAIN = ("devices", "show", "b580"), ("explain", "512", "384", "1024", "--device", "b580")


def show(monkeypatch: pytest.MonkeyPatch, url: str, folder: Path, arguments: tuple[str, ...] = SHOW) -> None:
    """Run `xetune` with these arguments on a database."""
    monkeypatch.setenv("XETUNE_DATA_DIR", str(folder))
    monkeypatch.setenv("XETUNE_DATABASE_URL", url)
    monkeypatch.setattr(sys, "argv", ["xetune", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0


@pytest.mark.parametrize("arguments", [SHOW, EXPLAIN], ids=["devices show", "explain"])
def test_the_command_line_says_how_far_predictions_were_off(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    sqlite_url: str,
    tmp_path: Path,
    arguments: tuple[str, ...],
) -> None:
    show(monkeypatch, sqlite_url, tmp_path, arguments)
    assert "were off by" not in capsys.readouterr().out
    judge_three(sqlite_url)
    show(monkeypatch, sqlite_url, tmp_path, arguments)
    assert OFF in " ".join(capsys.readouterr().out.split())


def test_a_breakdown_does_without_a_database_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "none.sqlite"
    path.write_bytes(b"no database at all, not by far" * 100)
    show(monkeypatch, f"sqlite:///{path}", tmp_path, EXPLAIN)
    assert "accuracy of predictions is not known: database" in capsys.readouterr().err


def test_nothing_is_said_of_predictions_for_a_device_that_only_a_file_knows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], sqlite_url: str, tmp_path: Path
) -> None:
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("XETUNE_DATABASE_URL", sqlite_url)
    assert known_accuracy("mygpu").models == []
    assert capsys.readouterr().err == ""


def test_what_is_kept_follows_every_commit_and_reads_only_what_changed(
    client: TestClient, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[set[str] | None] = []
    judged = predictions.judged

    def spied(session: Session, device: str, keys: Collection[str] | None = None) -> list[predictions.Judged]:
        asked.append(None if keys is None else set(keys))
        return judged(session, device, keys)

    monkeypatch.setattr(predictions, "judged", spied)
    for _ in range(2):
        client.get("/v1/devices/b580/accuracy")
    judge_three(context.settings.database_url)
    for _ in range(2):
        assert [of["measured"] for of in client.get("/v1/devices/b580/accuracy").json()["models"]] == [3]
    with context.database.write() as session:
        other = rows.add_job(session, "b580", m=48)
        rows.predict(session, rows.add_measured(session, other, 7, 40.0), 20.0, model="2")
        predictions.judge(session, other.problem_id, "b580")
        keys = session.scalars(select(Problem.key).join(Job).order_by(Problem.id)).all()
    told = [client.get("/v1/devices/b580/accuracy").json() for _ in range(2)]
    for kept in told:
        assert [(of["model"], of["measured"], of["off_by"]) for of in kept["models"]] == [("1", 3, 1.5), ("2", 1, 2.0)]
    assert asked == [None, {keys[0]}, {keys[1]}]
    with context.database.read() as session:
        assert told[-1] == accuracy_of(session, "b580").model_dump(mode="json")


def test_a_database_that_failed_leaves_nothing_wrong_behind(
    client: TestClient, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge_three(context.settings.database_url)

    def failing(*_: object) -> list[predictions.Judged]:
        raise DatabaseUnavailable("not now")

    with monkeypatch.context() as broken:
        broken.setattr(predictions, "judged", failing)
        assert client.get("/v1/devices/b580/accuracy").status_code == 503
    assert [of["measured"] for of in client.get("/v1/devices/b580/accuracy").json()["models"]] == [3]
