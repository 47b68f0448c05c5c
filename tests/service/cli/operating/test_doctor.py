"""xetune doctor: lines for people, a document for programs, exit status 1 for a fault."""

import json
import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from hal.devices import listing
from hal.facts.intel_attributes import gpu_attributes
from hal.probe.findings import Finding, State
from hal.probe.probe import Probes
from hal.probe.readiness import Machine, gpu_readiness
from service.cli.operating import findings
from service.cli.printing.output import CONSOLE
from service.doctor import hardware
from service.doctor.kernels import Chosen
from tests.hal.facts.test_intel_attributes import answers
from tests.hal.machines import ADDRESS, DRIVER, NOTHING, add_gpu, add_opencl_driver, machine, probed
from tests.service.cli.both_transports import Run

ROOT = Path(__file__).resolve().parents[4]
WORKS = Finding("gemm-f32", "cpu-x", State.OK, "f32 to f32: 2 of 2 tiles verified, 5 us")
FAILS = Finding("gemm-s8", "b570", State.FAULT, "s8 to i32: crashed, gone", "f16 or bf16")


@pytest.fixture(autouse=True)
def none_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without a GPU, whose kernels are not run; tests add to its files."""
    root = tmp_path / "machine"
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(CONSOLE, "_width", None)  # COLUMNS, where it was set before
    monkeypatch.setattr(findings, "probe_drivers", lambda: NOTHING)
    monkeypatch.setattr(findings, "kernels", lambda *_: iter(()))
    stand_in(monkeypatch, machine(root))
    return root


def stand_in(monkeypatch: pytest.MonkeyPatch, here: Machine) -> None:
    """Let doctor look at that machine."""
    for module in (listing, hardware):
        monkeypatch.setattr(module, "gpu_readiness", lambda probes, _: gpu_readiness(probes, here))


def test_a_machine_without_faults_ends_with_0(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "kernels", lambda *_: iter([WORKS]))
    status, out, errors = run("doctor")
    assert (status, errors) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("xetune ")
    assert lines[1].startswith("note     gpu                   PCI: no Intel GPU is on the PCI bus")
    assert "ok       gemm-f32              cpu-x: f32 to f32: 2 of 2 tiles verified, 5 us" in lines
    assert lines[-2:] == ["kernels run on cpu-x", "no faults"]


def test_the_gpus_whose_kernels_the_driver_accepts_are_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    named = {"b580": State.OK, "a770": State.FAULT, "max1100": State.OK}
    given = [Finding(f"accept-{check}", gpu, named[gpu], "") for gpu in named for check in ("s8", "slm-barrier")]
    monkeypatch.setattr(findings, "kernels", lambda *_: iter([Finding("gemm-s8", "a770", State.OK, ""), *given]))
    assert run("doctor")[1].splitlines()[-3:] == [
        "kernels run on a770",
        "kernels are accepted for b580, max1100",
        "2 faults: do what follows the arrows",
    ]
    document = json.loads(run("doctor", "--json")[1])
    assert document["devices"] == {"a770": True}
    assert document["accepted"] == {"b580": True, "a770": False, "max1100": True}


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
    monkeypatch.setattr(findings, "probe_drivers", lambda: probed("E20C", xe_cores=18))
    asked: list[str] = []

    def kernels(devices: Chosen, *_: object) -> Iterator[Finding]:
        asked.extend(device.spec.id for device in devices.running)
        yield from (WORKS, FAILS)

    monkeypatch.setattr(findings, "kernels", kernels)
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


def test_a_compiler_that_is_not_there_is_a_fault_and_all_else_is_checked(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings, "kernels", lambda *_: iter([WORKS]))
    monkeypatch.setenv("XETUNE_OCLOC", "/nosuch")
    status, out, errors = run("doctor", "--json")
    found = json.loads(out)["findings"]
    (fault,) = [finding for finding in found if finding["state"] == "fault"]
    assert (status, errors, fault["subject"], fault["remedy"]) == (1, "", "ocloc", "correct or unset XETUNE_OCLOC")
    assert fault["found"].startswith("XETUNE_OCLOC is '/nosuch': expected Intel's offline compiler")
    later = [finding["check"] for finding in found[found.index(fault) + 1 :]]
    assert later == ["package", "database", "disk", "gemm-f32"]


def as_answered(answers: Mapping[int, bytes]) -> Probes:
    """Return the report of OpenCL about a GPU with these answers to Intel's queries."""
    facts = {fact.name: fact.value for fact in gpu_attributes(answers.get).facts}
    return probed(str(answers[0x4251][1::-1].hex().upper()), DRIVER, ADDRESS, **facts)


B570 = answers(144, 5, 4) | {0x4251: struct.pack("I", 0xE20C)}
MACHINES: dict[str, tuple[str, Probes, bool]] = {  # PCI id, what OpenCL reports, whether the user is in the group
    "A B580 whose user is not in the group `render`": ("E20B", NOTHING, False),
    "A B580 with a driver that is too old": ("E20B", probed(driver="24.35.30872.22", xe_cores=20), True),
    "A B570": ("E20C", as_answered(B570), True),
}


@pytest.mark.parametrize("title", MACHINES)
def test_the_page_shows_what_doctor_prints_on_a_machine(
    run: Run, none_here: Path, monkeypatch: pytest.MonkeyPatch, title: str
) -> None:
    pci_id, probes, is_in_group = MACHINES[title]
    add_gpu(none_here, pci_id)
    add_opencl_driver(none_here, "2.1.12+18" if "old" in title else "2.40.14+0")
    monkeypatch.setattr(findings, "probe_drivers", lambda: probes)
    stand_in(monkeypatch, machine(none_here, is_in_group=is_in_group))
    status, out, _ = run("doctor", "--no-kernels")
    assert status == (0 if is_in_group else 1)
    of_gpu = re.split(r"\n\w+ +opencl +OpenCL: ", out.partition("\n")[2])[0].splitlines()
    page = (ROOT / "docs" / "doctor.md").read_text()
    shown = page[page.index(f"{title}:") :].partition("\n\n")[2]
    assert shown.partition("\n\n")[0] == "\n".join(f"    {line}" for line in of_gpu)
