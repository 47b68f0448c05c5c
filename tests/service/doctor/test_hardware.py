"""Findings about GPUs and runtimes are told in order; a machine without a GPU has no fault."""

from pathlib import Path

from hal.probe.findings import State
from hal.probe.probe import ProbeReport, Probes
from service.doctor.hardware import hardware
from tests.hal.machines import ADDRESS, NOTHING, add_gpu, add_opencl_driver, machine, probed


def test_a_machine_without_a_gpu_or_runtimes_has_no_fault(tmp_path: Path) -> None:
    findings = list(hardware(NOTHING, machine(tmp_path)))
    assert [(f.check, f.state) for f in findings] == [
        ("gpu", State.NOTE),
        ("opencl", State.WARNING),
        ("level-zero", State.WARNING),
    ]
    assert findings[1].remedy.startswith("`pip install 'xetune[opencl-cpu]'`")


def test_findings_of_the_gpu_come_before_those_of_runtimes(tmp_path: Path) -> None:
    add_gpu(tmp_path)
    add_opencl_driver(tmp_path)
    report = probed().opencl
    level_zero = ProbeReport(tuple(d.__class__("level_zero:gpu:0", d.name, d.kind, d.facts) for d in report.devices))
    findings = list(hardware(Probes(report, level_zero), machine(tmp_path)))
    assert [f.check for f in findings[-2:]] == ["opencl", "level-zero"]
    assert {f.subject for f in findings[:-2]} == {ADDRESS}
    assert all(f.state is State.OK for f in findings)
    assert findings[-1].found == "Intel(R) Graphics at level_zero:gpu:0 (driver 26.27.039122)"


def test_a_runtime_without_devices_is_noted(tmp_path: Path) -> None:
    *_, level_zero = hardware(Probes(probed().opencl, ProbeReport()), machine(tmp_path))
    assert (level_zero.state, level_zero.found) == (State.NOTE, "it shows no device")
