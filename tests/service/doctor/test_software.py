"""Packages, the database and the disk are looked at without making or changing anything."""

from collections import namedtuple
from pathlib import Path

import pytest

from hal.probe.findings import Finding, State
from service.api.toolchain.listing import Tool
from service.doctor import software as module
from service.doctor.software import database_finding, software, tool_findings
from service.settings import Settings

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with a data folder that is not there yet."""
    return Settings(data_dir=tmp_path / "new" / "data")


def found(settings: Settings, check: str) -> list[Finding]:
    return [finding for finding in software(settings) if finding.check == check]


def test_a_database_that_is_not_there_is_noted_and_not_made(settings: Settings) -> None:
    (finding,) = found(settings, "database")
    assert finding.state is State.NOTE
    assert finding.found.endswith("does not exist")
    assert finding.remedy
    assert not settings.data_dir.exists()


def test_a_database_of_this_version_is_ready(settings: Settings, sqlite_url: str) -> None:
    (finding,) = found(settings.model_copy(update={"database_url": sqlite_url}), "database")
    assert finding.state is State.OK


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
    monkeypatch.setattr(module.os, "access", lambda *_: False)
    (finding,) = found(settings, "disk")
    assert finding.state is State.FAULT
    assert finding.found == f"{settings.data_dir.parents[1]} cannot be written"


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
