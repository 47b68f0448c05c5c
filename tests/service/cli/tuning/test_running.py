"""Progress of a job in the terminal."""

import threading
from pathlib import Path
from typing import NoReturn
from uuid import uuid4

import pytest

from db.errors import DatabaseFull
from db.queries.cluster import coordinators
from db.session import open_database
from service.cli.tuning.running import _Runner, _State, _Work
from tests.service.cluster.test_coordinator import until


@pytest.mark.parametrize(("done", "total", "shown"), [(3, 20, (3, 20)), (20, 20, (20, 20)), (31, 20, (31, 31))])
def test_progress_never_passes_its_total(done: int, total: int, shown: tuple[int, int]) -> None:
    assert _State("b580", is_running=True, is_over=False, done=done, total=total, text="").bar == shown


def test_work_that_a_full_disk_keeps_from_being_claimed_is_not_told_to_be_of_another_process(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As after a disk was full: the row of the job is still that of the process which failed."""
    asked = threading.Event()

    def full(*_: object, **__: object) -> NoReturn:
        asked.set()
        raise DatabaseFull("its disk is full")

    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(coordinators, "acquire", full)
    state = _State("b580", is_running=True, is_over=False, done=1, total=5, text="")
    runner = _Runner(open_database(sqlite_url), _Work(uuid4(), "job 1", "jobs", lambda: state))
    runner.start()
    assert asked.wait(60)
    until(lambda: not runner.is_elsewhere(state))
    for _ in range(9):
        runner.check(state)
    runner.stop()
    assert "another process" not in "".join(capsys.readouterr())
