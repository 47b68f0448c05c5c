"""Packages, the database and the disk are looked at without making or changing anything."""

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from db.migrate import downgrade
from db.session import open_database
from hal.probe.findings import Finding, State
from service.api.toolchain.listing import Tool
from service.doctor import software as module
from service.doctor.software import database_finding, disk_finding, privacy_findings, software, tool_findings
from service.settings import Settings


class Usage(NamedTuple):
    total: int
    used: int
    free: int


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with a data folder that is not there yet."""
    return Settings(data_dir=tmp_path / "new" / "data")


def found(settings: Settings, check: str) -> list[Finding]:
    return [finding for finding in software(settings) if finding.check == check]


def test_a_database_that_is_not_there_is_noted_and_not_made(settings: Settings) -> None:
    (finding,) = found(settings, "database")
    assert finding.state is State.NOTE
    assert (finding.found, finding.remedy) == ("does not exist", "the first command makes it")
    assert not settings.data_dir.exists()


def test_a_database_of_this_version_is_ready(settings: Settings, sqlite_url: str) -> None:
    (finding,) = found(settings.model_copy(update={"database_url": sqlite_url}), "database")
    assert finding.state is State.OK


def test_a_database_of_an_older_version_is_a_fault_as_no_command_works(settings: Settings, sqlite_url: str) -> None:
    database = open_database(sqlite_url)
    downgrade(database.engine, "0001")
    database.close()
    (finding,) = found(settings.model_copy(update={"database_url": sqlite_url}), "database")
    assert (finding.state, finding.remedy) == (State.FAULT, "run `xetune db upgrade`")


def test_a_database_that_cannot_be_reached_is_a_fault_without_its_password(settings: Settings) -> None:
    url = "postgresql+psycopg://ana:secret@127.0.0.1:1/x"
    (finding,) = found(settings.model_copy(update={"database_url": url}), "database")
    assert finding.state is State.FAULT
    assert "secret" not in f"{finding.subject} {finding.found} {finding.remedy}"


@pytest.mark.parametrize(("free", "state"), [(10**8, State.FAULT), (10**9, State.WARNING), (10**11, State.OK)])
def test_the_disk_needs_room(settings: Settings, monkeypatch: pytest.MonkeyPatch, free: int, state: State) -> None:
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: Usage(10**12, 0, free))
    (finding,) = found(settings, "disk")
    assert (finding.state, finding.subject) == (state, str(settings.data_dir))


def test_a_folder_that_cannot_be_written_is_a_fault(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    exists = os.access
    monkeypatch.setattr(module.os, "access", lambda path, mode: mode == os.F_OK and exists(path, mode))
    (finding,) = found(settings, "disk")
    assert finding.state is State.FAULT
    assert finding.found == f"{settings.data_dir.parents[1]} cannot be written"


@pytest.mark.parametrize("name", ["file", "no_bytes"])
def test_a_folder_that_is_not_on_a_disk_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    there = tmp_path / name
    if name == "file":
        there.touch()
    else:
        there.mkdir()
        monkeypatch.setattr(module.shutil, "disk_usage", lambda _: Usage(0, 0, 0))
    finding = disk_finding(there / "data")
    assert (finding.state, finding.remedy) == (State.FAULT, "set XETUNE_DATA_DIR to another folder")
    assert finding.found == f"no file can be made there: {there} is not a folder of a disk"


def test_a_missing_package_is_a_fault_and_a_missing_option_is_not() -> None:
    tools = [Tool("torch-mlir", "MLIR", None, advice="set it up"), Tool("ocloc", "compiler", None, advice="install it")]
    tools.append(Tool("numpy", "numbers", "2.4"))
    assert [(f.subject, f.state, f.remedy) for f in tool_findings(tools)] == [
        ("torch-mlir", State.FAULT, "set it up"),
        ("ocloc", State.NOTE, "install it"),
        ("numpy", State.OK, ""),
    ]


@pytest.mark.parametrize("url", ["foo://x", "postgresql+psycopg://ana@127.0.0.1:1/x"])
def test_each_fault_of_the_database_says_what_to_do(url: str) -> None:
    finding = database_finding(url)
    assert (finding.state, finding.remedy != "") == (State.FAULT, True)
    assert finding.subject not in finding.found


def test_the_finding_of_a_file_that_is_no_database_names_it_once(tmp_path: Path) -> None:
    file = tmp_path / "notes.sqlite"
    file.write_text("These are no tables. " * 200)
    finding = database_finding(f"sqlite:///{file}")
    assert (finding.subject, finding.state) == (f"sqlite:///{file}", State.FAULT)
    assert finding.found.startswith("the file is not an SQLite database")


def test_a_folder_and_a_database_that_others_may_read_are_warned_of(tmp_path: Path) -> None:
    folder, file = tmp_path / "my data", tmp_path / "results.sqlite"
    folder.mkdir(mode=0o755)
    for path in (file, tmp_path / "results.sqlite-wal"):
        path.touch()
    folder.chmod(0o755)
    file.chmod(0o644)
    (tmp_path / "results.sqlite-wal").chmod(0o600)
    url = f"sqlite:///{file}"
    of_folder, of_file = privacy_findings(folder, url)
    assert (of_folder.state, of_folder.found) == (State.WARNING, "other users of this machine may use it (mode 0755)")
    assert (of_folder.subject, of_file.subject) == (str(folder), str(file))
    for finding in (of_folder, of_file):  # the commands mend it
        command = finding.remedy.removeprefix("run `").removesuffix("`")
        subprocess.run(command, shell=True, check=True)
    assert list(privacy_findings(folder, url)) == []
    assert (folder.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)


def test_what_is_not_there_is_private(settings: Settings) -> None:
    assert found(settings, "privacy") == []
    assert list(privacy_findings(settings.data_dir, "postgresql://user@host/name")) == []
