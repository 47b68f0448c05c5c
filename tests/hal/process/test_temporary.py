"""Folders of killed processes are removed at the next start; those in use, young ones and those of others stay."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hal.process.temporary import remove_leftovers, temporary_folder

_KILLED = """
import os, signal
from hal.process.temporary import temporary_folder
with temporary_folder("isa") as folder:
    (folder / "kernel.bin").write_bytes(b"some")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def age(folder: Path) -> None:
    """Make a folder two hours old."""
    then = time.time() - 7200
    os.utime(folder, (then, then))


def test_a_folder_is_private_and_goes_with_the_block(here: Path) -> None:
    with temporary_folder("import") as folder:
        assert folder.parent == here
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "upload").write_bytes(b"some")
    assert list(here.iterdir()) == []


def test_what_a_killed_process_left_is_removed_when_it_is_old(here: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", _KILLED], env=os.environ | {"TMPDIR": str(here)}, check=False)
    assert ended.returncode == -signal.SIGKILL
    (left,) = here.iterdir()
    assert remove_leftovers() == []
    age(left)
    assert remove_leftovers() == [left]
    assert list(here.iterdir()) == []


def test_a_folder_in_use_stays_however_old_it_is(here: Path) -> None:
    with temporary_folder("worker") as folder:
        age(folder)
        assert remove_leftovers() == []
        assert folder.is_dir()


def test_names_of_others_files_and_links_stay(here: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "kept").write_bytes(b"some")
    (here / "xetune-locks-0").mkdir()
    (here / "xetune-tmp-file").write_bytes(b"")
    (here / "xetune-tmp-link").symlink_to(elsewhere)
    for path in here.iterdir():
        if not path.is_symlink():
            age(path)
    assert remove_leftovers() == []
    assert len(list(here.iterdir())) == 3
    assert (elsewhere / "kept").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_folders_of_other_users_stay_but_not_those_of_confined_processes(here: Path) -> None:
    other, confined = here / "xetune-tmp-other", here / "xetune-tmp-confined"
    for folder, owner in ((other, 1000), (confined, 0x70000005)):
        folder.mkdir()
        os.chown(folder, owner, owner)
        age(folder)
    assert remove_leftovers() == [confined]
