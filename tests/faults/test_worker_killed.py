"""A worker killed with -9 at any point loses and repeats no trial: the next worker continues."""

import os
import shutil
import signal
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest
from sqlalchemy import Connection, event
from sqlalchemy.orm import Session

from db.schema.trial import Trial
from db.session import Database, open_database
from service.artifacts import ArtifactStore
from tests.db.databases import SQLITE_FIRST, create_postgres, drop_postgres
from tests.faults.jobs import TRIALS, Place, check_whole, ended, job_of, queue

EVERY = 23  # a prime: of the steps of a trial, it meets others in each


def kill_at(number: int) -> Callable[[], None]:
    """Return a function whose nth call kills this process with SIGKILL."""
    calls = 0

    def step() -> None:
        nonlocal calls
        calls += 1
        if calls == number:
            os.kill(os.getpid(), signal.SIGKILL)

    return step


def life(place: Place, url: str, number: int) -> bool:
    """Run the job in a process that is killed at its nth step; False if the job ended before that."""
    pid = os.fork()
    if pid == 0:
        live(place, url, kill_at(number))
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the worker failed by itself"
    return os.WIFSIGNALED(status)


def live(place: Place, url: str, step: Callable[[], None]) -> NoReturn:
    """Run a worker that calls `step` before and after each commit, file and piece of work, and exit."""
    try:
        database = open_database(url)
        put = ArtifactStore.put

        def stepping_put(store: ArtifactStore, data: bytes) -> str:
            step()
            sha256 = put(store, data)
            step()
            return sha256

        write_rows = Database.write_rows

        @contextmanager
        def stepping_rows(of: Database) -> Generator[Connection]:
            with write_rows(of) as connection:
                yield connection
            step()

        place.monkeypatch.setattr(ArtifactStore, "put", stepping_put)
        place.monkeypatch.setattr(Database, "write_rows", stepping_rows)
        event.listen(database.engine, "commit", lambda _: step())
        event.listen(Session, "after_commit", lambda _: step())
        place.run_jobs(database, step)
    except BaseException:  # noqa: BLE001 (a fork must not go on as the test)
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def check_killed_at(number: int, folder: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Kill a worker at its nth step, let another continue, and check the job; False if there is no such step."""
    database = open_database(url)
    place = Place(folder, monkeypatch)
    job_id = queue(database)
    database.engine.dispose()
    if not life(place, url, number):
        return False
    before = ended(database, job_id)
    with database.read() as session:
        begun = session.query(Trial).count()
    assert begun - len(before) <= 1, "more than one trial was under way"
    if job_of(database, job_id).status != "succeeded":
        assert place.run_jobs(database) == 1, "the job was not taken over"
    after = ended(database, job_id)
    assert {number: after[number] for number in before} == before, "a trial that had ended was changed"
    check_whole(database, job_id, place.artifacts)
    database.close()
    return True


Places = Callable[[int], tuple[Path, str]]


@pytest.fixture(params=SQLITE_FIRST)  # a database for each point takes PostgreSQL a second
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Places]:
    """Return a factory of folders with an empty database of each kind."""
    made: list[str] = []

    def place(number: int) -> tuple[Path, str]:
        folder = tmp_path / str(number)
        folder.mkdir()
        if request.param == "sqlite":
            migrated = request.getfixturevalue("migrated_file")
            return folder, f"sqlite:///{shutil.copy(migrated, folder / 'xetune.sqlite')}"
        template = request.getfixturevalue("migrated_postgres")
        made.append(create_postgres(request.getfixturevalue("postgres_server"), template))
        return folder, made[-1]

    yield place
    for url in made:
        drop_postgres(request.getfixturevalue("postgres_server"), url)


def test_killed_now_and_then(new_place: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    number, points = 1, 0
    while check_killed_at(number, *new_place(number), monkeypatch):
        number, points = number + EVERY, points + 1
    assert points > TRIALS


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1, EVERY + 1))
def test_killed_at_every_point(new_place: Places, monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    number = first
    while check_killed_at(number, *new_place(number), monkeypatch):
        number += EVERY
    assert number > 15 * TRIALS
