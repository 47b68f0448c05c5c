"""A worker is unready for each fault that doctor finds without probing drivers, and says what to do."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from hal.probe.findings import Finding
from hal.probe.probe import Probes
from service.api.toolchain import listing
from service.doctor import software, worker
from service.doctor.worker import probes_at_start, worker_faults
from service.settings import Settings
from tests.hal.machines import NOTHING, add_gpu, add_opencl_driver, machine, probed


class Usage(NamedTuple):
    total: int
    used: int
    free: int


Faults = Callable[..., list[Finding]]


@pytest.fixture
def faults(tmp_path: Path, sqlite_url: str) -> Faults:
    """Finds the faults of a worker on a machine below `tmp_path`, whose user is in the group of its GPUs or not."""

    def found(
        probes: Probes | None = None, *, uses_database: bool = True, is_in_group: bool = True, url: str = sqlite_url
    ) -> list[Finding]:
        settings = Settings(data_dir=tmp_path, database_url=url)
        here = machine(tmp_path / "machine", is_in_group=is_in_group)
        return list(worker_faults(settings, probes, uses_database=uses_database, machine=here))

    return found


def test_a_worker_is_ready_without_a_gpu_and_with_one_that_it_may_use(faults: Faults, tmp_path: Path) -> None:
    assert faults() == []
    add_gpu(tmp_path / "machine")
    add_opencl_driver(tmp_path / "machine")
    assert faults(probed()) == []


def test_a_gpu_without_a_driver_that_shows_it_is_a_fault(faults: Faults, tmp_path: Path) -> None:
    add_gpu(tmp_path / "machine")
    (fault,) = faults(NOTHING)
    assert (fault.check, fault.found) == ("opencl-driver", "no OpenCL driver for Intel GPUs is installed")
    assert fault.remedy.startswith("install Intel's compute runtime")
    add_opencl_driver(tmp_path / "machine")
    (fault,) = faults(NOTHING)
    assert fault.found == "the OpenCL driver that is installed does not show it"


def test_drivers_are_probed_at_the_start_where_a_gpu_is_on_the_bus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "probe_drivers", lambda: NOTHING)
    assert probes_at_start(machine(tmp_path)) is None
    add_gpu(tmp_path)
    assert probes_at_start(machine(tmp_path)) is NOTHING


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
