"""A GPU that is there and runs no kernels is told of: by `xetune tune`, `xetune devices` and the REST API."""

from pathlib import Path

import pytest
from rich.console import Console, Group

from hal import list_devices
from hal.devices import listing
from hal.probe.probe import Probes
from hal.probe.readiness import gpu_readiness
from service.api.devices.schemas import DeviceList
from service.api.devices.service import describe
from service.cli.devices.one import render_device
from service.cli.devices.tables import render_devices
from service.cli.devices.unused import unused_gpus
from service.cli.options.device_file import listed_of
from tests.hal.machines import NOTHING, add_gpu, add_opencl_driver, machine, probed
from tests.service.cli.both_transports import Run

SIZE = ("--m", "24", "--n", "40", "--k", "56")


def told(root: Path, probes: Probes = NOTHING, *, is_in_group: bool = True) -> DeviceList:
    devices = list_devices(probes, machine=machine(root, is_in_group=is_in_group))
    return DeviceList(devices=[describe(device) for device in devices], quarantined=[])


def test_auto_and_the_gpus_own_name_tell_why_it_is_not_used(tmp_path: Path) -> None:
    add_gpu(tmp_path)
    devices = told(tmp_path, is_in_group=False)
    for asked, chosen in (("auto", "cpu-x"), (" AUTO", "cpu-x"), ("b580", "b580")):
        (line,) = unused_gpus(devices, asked, chosen)
        assert line.startswith(
            "note: Intel Arc B580 runs no kernels here: it is in this machine, at 0000:03:00.0; this "
        )
        assert "this user may not use /dev/dri/renderD128" in line
    assert list(unused_gpus(devices, "cpu", "cpu-x")) == []
    assert list(unused_gpus(devices, "b60", "b60")) == []


def test_nothing_is_told_of_gpus_that_run_kernels_or_are_not_here(tmp_path: Path) -> None:
    assert list(unused_gpus(told(tmp_path), "auto", "cpu-x")) == []
    add_gpu(tmp_path)
    add_opencl_driver(tmp_path)
    assert list(unused_gpus(told(tmp_path, probed(driver="24.35.1")), "auto", "b580")) == []


def test_a_job_prints_it_among_the_errors(
    one_database: None, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_gpu(tmp_path / "machine", driver=None, node=None)
    monkeypatch.setattr(
        listing, "gpu_readiness", lambda probes, _: gpu_readiness(probes, machine(tmp_path / "machine"))
    )
    monkeypatch.setattr(listing, "probe_drivers", lambda: NOTHING)
    for name in ("running.work_on_job", "results.print_job"):  # only the job's creation matters
        monkeypatch.setattr(f"service.cli.tuning.{name}", lambda *_, **__: None)
    monkeypatch.setattr("service.cli.printing.progress.end_with", lambda _: None)
    status, out, errors = run("tune", *SIZE, "--device", "auto")
    assert (status, errors.count("\n")) == (0, 1)
    assert errors.startswith(
        "note: Intel Arc B580 runs no kernels here: it is in this machine, at 0000:03:00.0; no kern"
    )
    assert "tuning 24x40x56" in out
    assert "on cpu-" in out


def test_the_list_of_devices_shows_it_among_those_of_this_machine(tmp_path: Path) -> None:
    add_gpu(tmp_path)
    devices = told(tmp_path)
    console = Console(width=200, no_color=True)
    with console.capture() as capture:
        console.print(Group(*render_devices([listed_of(device) for device in devices.devices])))
        console.print(render_device(devices.devices[0], listed_of(devices.devices[0])))
    shown = " ".join(capture.get().split())
    here = shown.partition("device chip")[0]
    assert here.startswith("In this machine b580 Intel Arc B580; not reached by a runtime; runs no kernels 20 Xe cores")
    assert "no OpenCL driver for Intel GPUs is installed: install Intel's compute runtime 26.27 or newer" in here
    assert "b580 Intel Arc B580 in this machine, but no driver shows it also called" in shown


def test_the_rest_api_has_each_finding(tmp_path: Path) -> None:
    add_gpu(tmp_path)
    b580 = told(tmp_path, is_in_group=False).devices[0]
    assert (b580.id, b580.runtime, b580.runnable) == ("b580", "pci", False)
    assert [(f.check, f.state) for f in b580.findings] == [
        ("gpu", "ok"),
        ("kernel-driver", "ok"),
        ("permission", "fault"),
    ]
    assert b580.findings[-1].remedy
    assert listed_of(b580).findings[-1].found == b580.findings[-1].found
