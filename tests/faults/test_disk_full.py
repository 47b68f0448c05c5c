"""A disk that fills up in the middle of a job stops it until there is room again; nothing is lost or half written."""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from db.errors import DatabaseFull
from db.queries import jobs
from db.session import open_database
from service.cluster import coordinator
from tests.faults.jobs import Place, check_whole, ended, job_of, queue

DISK_BYTES = 4 * 2**20
WAIT_S = 60.0


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """A file system of a few MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ("mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder))
    if os.getuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(("umount", "--lazy", str(folder)), check=True)


def fill(disk: Path) -> Path:
    """A file that takes all the room there is."""
    path = disk / "filler"
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return path


@pytest.mark.parametrize("database_too", [True, False], ids=["database and artifacts", "artifacts"])
def test_a_job_waits_for_room_and_goes_on(
    migrated_file: Path, small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database_too: bool
) -> None:
    monkeypatch.setattr(coordinator, "STORAGE_WAIT_S", 0.05)
    folder = small_disk if database_too else tmp_path
    database = open_database(f"sqlite:///{shutil.copy(migrated_file, folder / 'xetune.sqlite')}")
    place, job_id, filler = Place(small_disk, monkeypatch), queue(database), list[Path]()

    def fill_once() -> None:
        if not filler and len(ended(database, job_id)) == 2:
            filler.append(fill(small_disk))

    works = place.coordinator(database, fill_once)
    thread = threading.Thread(target=works.run)
    thread.start()
    try:
        deadline = time.monotonic() + WAIT_S
        while not filler or job_of(database, job_id).attempts < (1 if database_too else 3):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(0.3)  # it meets the full disk again and again
        before = ended(database, job_id)
        assert (sorted(before), job_of(database, job_id).error) == ([0, 1], None)
        filler[0].unlink()
        while job_of(database, job_id).status in ("queued", "running"):
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        works.stop()
        thread.join(WAIT_S)
    assert {number: ended(database, job_id)[number] for number in before} == before
    check_whole(database, job_id, place.artifacts)
    assert not [path for path in place.artifacts.root.rglob("*") if path.is_file() and len(path.name) != 64]
    database.close()


def test_the_first_connection_to_a_database_on_a_full_disk_says_so(migrated_file: Path, small_disk: Path) -> None:
    database = open_database(f"sqlite:///{shutil.copy(migrated_file, small_disk / 'xetune.sqlite')}")
    filler = fill(small_disk)
    with pytest.raises(DatabaseFull, match="free some space"), database.read() as session:
        jobs.list_page(session, limit=1)
    filler.unlink()
    with database.read() as session:
        assert jobs.list_page(session, limit=1) == []
    database.close()
