"""Importing and listing work with no driver, and without pyopencl and dpctl."""

import json
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import hal.facts.cpu
from hal import XE_DEVICES
from hal.opencl.loader import loader
from hal.probe import probe
from hal.probe.probe import ProbeReport, probe_drivers, probe_opencl, probe_sycl

ROOT = Path(__file__).parents[2]


def run(script: str, path: Path | None = None) -> Any:
    prefix = f"import sys; sys.path.insert(0, {str(path)!r})\n" if path is not None else ""
    done = subprocess.run([sys.executable, "-c", prefix + script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_importing_hal_loads_neither_binding() -> None:
    loaded = run("import sys, json, hal; print(json.dumps([m for m in ('pyopencl', 'dpctl') if m in sys.modules]))")
    assert loaded == []


@pytest.mark.slow
def test_without_the_bindings_the_table_and_the_host_are_listed_with_the_reason(tmp_path: Path) -> None:
    for name in ("pyopencl", "dpctl"):
        (tmp_path / f"{name}.py").write_text("")
    script = """
import json, hal
devices = hal.list_devices()
print(json.dumps([devices[0].spec.id, devices[0].note, len(devices)]))
"""
    id, note, count = run(script, tmp_path)
    assert id == hal.facts.cpu.probe_cpu().id
    assert "OpenCL needs the package pyopencl: pyopencl has no extension _cl; SYCL needs the package dpctl: No" in note
    assert count == len(XE_DEVICES) + 1


@pytest.mark.opencl
def test_without_any_driver_the_message_says_how_to_get_one(tmp_path: Path) -> None:
    # As on a machine where the wheel is not installed.
    (tmp_path / "hal_without_wheel.py").write_text("import hal.probe.icd\nhal.probe.icd.wheel_runtime = lambda: None\n")
    script = """
import json, os
os.environ["OCL_ICD_VENDORS"] = "/nowhere"
import hal_without_wheel
from hal.probe.probe import probe_opencl
print(json.dumps(probe_opencl().fault))
"""
    assert "pip install 'xetune[opencl-cpu]'" in run(script, tmp_path)


@pytest.mark.opencl
@pytest.mark.slow
def test_this_machines_cpu_is_found_by_opencl() -> None:
    script = """
import json, hal
device = hal.resolve_device("opencl-cpu")
print(json.dumps([device.spec.id, device.runnable, device.targetable]))
"""
    assert run(script) == ["opencl-cpu-as-b580", True, True]


@pytest.fixture
def probe_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let both probes run a statement in place of their runtimes."""
    monkeypatch.syspath_prepend(tmp_path)

    def put(statement: str) -> None:
        (tmp_path / "faulty_runtime.py").write_text(f"import os, time\ndef ask():\n    {statement}\n")
        for name in ("probe_opencl", "probe_sycl"):
            monkeypatch.setattr(probe, name, import_module("faulty_runtime").ask)

    return put


def test_a_probe_that_ends_its_process_is_a_fault_of_its_runtime(probe_with: Callable[[str], None]) -> None:
    probe_with("os.abort()")
    probes = probe_drivers()
    assert probes.opencl.fault == "probing OpenCL failed: the device process was ended by SIGABRT"
    assert probes.sycl.fault == "probing SYCL failed: the device process was ended by SIGABRT"


def test_a_probe_that_hangs_is_a_fault_of_its_runtime(probe_with: Callable[[str], None]) -> None:
    probe_with("time.sleep(60)")
    probes = probe_drivers(timeout_s=0.2)
    said = "failed: no answer from the device process within 0.2 s; it was ended"
    assert (probes.opencl.fault, probes.sycl.fault) == (f"probing OpenCL {said}", f"probing SYCL {said}")


@pytest.mark.parametrize(("package", "probe_it"), [("pyopencl", probe_opencl), ("dpctl", probe_sycl)])
def test_a_missing_package_is_a_fault_of_its_runtime(
    package: str, probe_it: Callable[[], ProbeReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    loader.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    assert f"needs the package {package}: No module named '{package}'" in (probe_it().fault or "")


def test_devices_are_probed_without_numpy() -> None:
    script = """
import json, sys
from hal.probe.probe import probe_opencl, probe_sycl
found = [probe_opencl(), probe_sycl()]
print(json.dumps([report.fault for report in found] + [name in sys.modules for name in ("numpy", "dpctl")]))
"""
    assert run(script) == [None, None, False, False]
