"""A worker is unready for each fault that doctor finds without probing drivers, and says what to do."""

from collections import namedtuple
from collections.abc import Callable
from pathlib import Path

import pytest

from hal.probe.findings import Finding
from service.api.toolchain import listing
from service.doctor import software
from service.doctor.worker import worker_faults
from service.settings import Settings
from tests.hal.machines import add_gpu, machine

Usage = namedtuple("Usage", "total used free")
Faults = Callable[..., list[Finding]]


@pytest.fixture
def faults(tmp_path: Path, sqlite_url: str) -> Faults:
    """Finds the faults of a worker on a machine below `tmp_path`, whose user is in the group of its GPUs or not."""

    def found(*, uses_database: bool = True, is_in_group: bool = True, url: str = sqlite_url) -> list[Finding]:
        settings = Settings(data_dir=tmp_path, database_url=url)
        here = machine(tmp_path / "machine", is_in_group=is_in_group)
        return list(worker_faults(settings, uses_database=uses_database, machine=here))

    return found


def test_a_worker_is_ready_without_a_gpu_and_with_one_that_it_may_use(faults: Faults, tmp_path: Path) -> None:
    assert faults() == []
    add_gpu(tmp_path / "machine")
    assert faults() == []


def test_a_gpu_without_permission_is_a_fault(faults: Faults, tmp_path: Path) -> None:
    add_gpu(tmp_path / "machine")
    (fault,) = faults(is_in_group=False)
    assert (fault.check, fault.found.partition(" (")[0]) == ("permission", "this user may not use /dev/dri/renderD128")


@pytest.mark.parametrize("url", ["sqlite:////nowhere/xetune.sqlite", "postgresql+psycopg://ana@127.0.0.1:1/x"])
def test_a_database_that_is_gone_is_a_fault_where_it_is_used(faults: Faults, url: str) -> None:
    (fault,) = faults(url=url)
    assert fault.check == "database"
    assert faults(url=url, uses_database=False) == []


def test_a_full_disk_is_a_fault(faults: Faults, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(software.shutil, "disk_usage", lambda _: Usage(10**12, 10**12, 10**6))
    (fault,) = faults()
    assert (fault.check, fault.found) == ("disk", "0.0 GB free")


def test_a_missing_compiler_is_a_fault(faults: Faults, monkeypatch: pytest.MonkeyPatch) -> None:
    version = listing.metadata.version

    def without_mlir(name: str) -> str:
        if name == "torch-mlir":
            raise listing.metadata.PackageNotFoundError
        return version(name)

    monkeypatch.setattr(listing.metadata, "version", without_mlir)
    (fault,) = faults()
    assert (fault.check, fault.subject) == ("package", "torch-mlir")
