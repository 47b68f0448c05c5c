"""Findings about GPUs and runtimes are told in order; a machine without a GPU has no fault."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codegen import Activation, DType, Gate, GemmProblem
from codegen.backend import compile_kernel
from codegen.problem.epilogue_text import parse_epilogue
from hal import find
from hal.probe.findings import Finding, State
from hal.probe.probe import ProbeReport, Probes
from hal.spirv.needs import BF16_CONVERSIONS, BLOCK_IO, PRODUCTS, SpirvOffer, spirv_needs
from service.doctor.hardware import hardware, kernel_needs
from tests.hal.machines import ADDRESS, NOTHING, add_gpu, add_opencl_driver, machine, probed
from tuner.backend import tuning_for

COMMON = {"cl_intel_required_subgroup_size", "cl_khr_fp16", "cl_intel_subgroups", "cl_khr_subgroup_shuffle"}
OFFERED = SpirvOffer(frozenset({"1.3", "1.4"}), frozenset({*COMMON, PRODUCTS, BLOCK_IO, BF16_CONVERSIONS}))


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


def spirv_of(offer: SpirvOffer, root: Path, pci_id: str = "E20B") -> Finding:
    """The finding about the SPIR-V of a GPU whose driver offers that."""
    (device,) = probed(pci_id).opencl.devices
    report = ProbeReport((replace(device, spirv=offer),))
    (finding,) = (f for f in hardware(Probes(report, ProbeReport()), machine(root)) if f.check == "spirv")
    return finding


def test_the_spirv_of_a_device_is_told_with_the_extensions_that_kernels_need(tmp_path: Path) -> None:
    finding = spirv_of(OFFERED, tmp_path)
    assert (finding.state, finding.subject, finding.remedy) == (State.OK, "opencl:0:0", "")
    assert finding.found == f"SPIR-V 1.3, 1.4, with {', '.join(kernel_needs(find('b580')).opencl_extensions)}"


def test_what_a_driver_lacks_is_named_as_far_as_the_gpu_has_it(tmp_path: Path) -> None:
    old = SpirvOffer(frozenset({"1.2"}), frozenset({*COMMON, PRODUCTS}), frozenset())
    finding = spirv_of(old, tmp_path)
    assert finding.state is State.WARNING
    has = ", ".join(sorted((*COMMON, PRODUCTS)))
    lacks = f"SPIR-V 1.4, {BF16_CONVERSIONS}, {BLOCK_IO}, SPV_INTEL_bfloat16_conversion, SPV_INTEL_subgroups"
    assert finding.found == f"SPIR-V 1.2, with {has}; it lacks {lacks}"
    assert finding.remedy.startswith("install Intel's compute runtime")
    alchemist = spirv_of(replace(OFFERED, opencl_extensions=OFFERED.opencl_extensions - {BLOCK_IO}), tmp_path, "56A0")
    assert alchemist.state is State.OK


@pytest.mark.slow
@pytest.mark.parametrize("name", ["b580", "max1100", "a770", "meteor-lake-u"])
@pytest.mark.parametrize("also", [{}, {"gate": Gate(Activation.SILU, 1)}, {"epilogue": parse_epilogue("reduce:row")}])
def test_kernels_need_nothing_that_is_not_looked_for(name: str, also: dict[str, Any]) -> None:
    spec = find(name)
    known = kernel_needs(spec)
    for dtype in (DType.F16, DType.BF16):
        problem = GemmProblem(512, 384, 640, dtype_a=dtype, dtype_b=dtype, dtype_c=dtype, **also)
        artifact = compile_kernel(problem, tuning_for(spec).default(problem, spec), spec)
        needs = spirv_needs(next(stage.data for stage in artifact.stages if stage.file_name == "kernel.spv"))
        assert needs.version == known.version
        assert set(needs.opencl_extensions) <= set(known.opencl_extensions)
        assert set(needs.extensions) - {"SPV_INTEL_cache_controls"} <= set(known.extensions)
