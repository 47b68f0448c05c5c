"""xetune doctor: lines for people, a document for programs, exit status 1 for a fault."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hal.devices import listing
from hal.probe.findings import Finding, State
from hal.probe.readiness import gpu_readiness
from service.cli.operating import doctor
from service.doctor import hardware
from tests.hal.machines import NOTHING, add_gpu, add_opencl_driver, machine, probed
from tests.service.cli.both_transports import Run

WORKS = Finding("gemm-f32", "cpu-x", State.OK, "f32 to f32: 2 of 2 tiles verified, 5 us")
FAILS = Finding("gemm-s8", "b570", State.FAULT, "s8 to i32: crashed, gone", "f16 or bf16")


@pytest.fixture(autouse=True)
def none_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without a GPU, whose kernels are not run; tests add to its files."""
    root = tmp_path / "machine"
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(doctor, "probe_drivers", lambda: NOTHING)
    monkeypatch.setattr(doctor, "kernels", lambda *_: iter(()))
    for module in (listing, hardware):
        monkeypatch.setattr(module, "gpu_readiness", lambda probes, _: gpu_readiness(probes, machine(root)))
    return root


def test_a_machine_without_faults_ends_with_0(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "kernels", lambda *_: iter([WORKS]))
    status, out, errors = run("doctor")
    assert (status, errors) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("xetune ")
    assert lines[1].startswith("note     gpu                   PCI: no Intel GPU is on the PCI bus")
    assert "ok       gemm-f32              cpu-x: f32 to f32: 2 of 2 tiles verified, 5 us" in lines
    assert lines[-2:] == ["kernels run on cpu-x", "no faults"]


def test_a_gpu_without_its_render_node_is_a_fault(run: Run, none_here: Path) -> None:
    add_gpu(none_here, node=None)
    status, out, _ = run("doctor", "--no-kernels")
    assert status == 1
    assert "fault    render-node           0000:03:00.0: the kernel driver xe made no render node for it" in out
    assert "\n                               -> `sudo dmesg" in out
    assert out.splitlines()[-1] == "1 fault: do what follows the arrows"


def test_programs_get_a_document(run: Run, none_here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_gpu(none_here, "E20C")
    add_opencl_driver(none_here)
    monkeypatch.setattr(doctor, "probe_drivers", lambda: probed("E20C", xe_cores=18))
    asked: list[str] = []

    def kernels(devices: list, *_: object) -> Iterator[Finding]:
        asked.extend(device.spec.id for device in devices)
        yield from (WORKS, FAILS)

    monkeypatch.setattr(doctor, "kernels", kernels)
    status, out, _ = run("doctor", "--json")
    document = json.loads(out)
    assert status == 1
    assert asked[0] == "b570"
    assert (document["ready"], document["devices"]) == (False, {"cpu-x": True, "b570": False})
    assert document["findings"][-1] == {
        "check": "gemm-s8",
        "subject": "b570",
        "state": "fault",
        "found": "s8 to i32: crashed, gone",
        "remedy": "f16 or bf16",
    }
    assert {"xetune", "python", "system"} < set(document)


def test_a_device_that_runs_no_kernels_is_refused(run: Run) -> None:
    status, _, errors = run("doctor", "--device", "b580")
    assert (status, errors.count("\n")) == (2, 1)
    assert "error: b580 runs no kernels here" in errors
