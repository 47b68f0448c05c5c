"""A GPU on the bus that cannot be used says at which step, and what to do."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hal.probe.findings import State
from hal.probe.probe import ProbeReport, Probes
from hal.probe.readiness import GpuReadiness, gpu_readiness
from tests.hal.machines import ADDRESS, NOTHING, add_gpu, add_node, add_opencl_driver, machine, probed


def of_one(root: Path, probes: Probes = NOTHING, *, is_in_group: bool = True) -> GpuReadiness:
    (one,) = gpu_readiness(probes, machine(root, is_in_group=is_in_group))
    return one


def test_a_gpu_that_is_ready_has_no_fault(tmp_path: Path) -> None:
    add_gpu(tmp_path)
    add_opencl_driver(tmp_path)
    one = of_one(tmp_path, probed())
    assert [(f.check, f.state) for f in one.findings] == [
        (check, State.OK)
        for check in ("gpu", "kernel-driver", "permission", "opencl-driver", "driver-version", "compiler-version")
    ]
    assert {f.subject for f in one.findings} == {ADDRESS}
    assert (one.opencl, one.row and one.row.id) == ("opencl:0:0", "b580")
    assert one.findings[-1].found == "graphics compiler 2.40"


def _without_kernel_driver(root: Path) -> None:
    add_gpu(root, driver=None, node=None)


def _given_to_a_virtual_machine(root: Path) -> None:
    add_gpu(root, driver="vfio-pci", node=None)


def _without_node(root: Path) -> None:
    add_gpu(root, node=None)


def _in_a_container_without_the_node(root: Path) -> None:
    add_gpu(root)
    (root / "dev/dri/renderD128").unlink()


def _without_opencl(root: Path) -> None:
    add_gpu(root)


def _with_an_opencl_driver_that_does_not_show_it(root: Path) -> None:
    add_gpu(root)
    add_opencl_driver(root)


@pytest.mark.parametrize(
    ("make", "check", "found", "remedy"),
    [
        (_without_kernel_driver, "kernel-driver", "no kernel driver is bound", "Linux 6.12"),
        (_given_to_a_virtual_machine, "kernel-driver", "vfio-pci", "bind it to xe or i915"),
        (_without_node, "render-node", "xe made no render node", "dmesg"),
        (_in_a_container_without_the_node, "render-node", "/dev/dri/renderD128 does not", "--device /dev/dri"),
        (
            _without_opencl,
            "opencl-driver",
            "no OpenCL driver for Intel GPUs",
            "26.27 or newer (package intel-opencl-icd",
        ),
        (_with_an_opencl_driver_that_does_not_show_it, "opencl-driver", "does not show it", "26.27 or newer: an older"),
    ],
)
def test_the_first_fault_is_the_last_finding_and_says_what_to_do(
    tmp_path: Path, make: Callable[[Path], None], check: str, found: str, remedy: str
) -> None:
    make(tmp_path)
    *before, last = of_one(tmp_path).findings
    assert all(finding.state is State.OK for finding in before)
    assert (last.check, last.state) == (check, State.FAULT)
    assert found in last.found
    assert remedy in last.remedy
    assert str(tmp_path) not in str(last)


def test_another_gpu_or_a_fault_of_the_probe_does_not_hide_a_gpu(tmp_path: Path) -> None:
    add_gpu(tmp_path)
    add_opencl_driver(tmp_path)
    assert "does not show it" in of_one(tmp_path, probed(pci_address="0000:09:00.0")).findings[-1].found
    broken = Probes(ProbeReport(fault="OpenCL needs the package pyopencl: gone"), ProbeReport())
    last = of_one(tmp_path, broken).findings[-1]
    assert (last.check, last.found) == ("opencl-driver", "OpenCL needs the package pyopencl: gone")


def test_a_user_outside_the_render_group_is_told_to_join_it(tmp_path: Path) -> None:
    add_gpu(tmp_path)
    add_opencl_driver(tmp_path)
    last = of_one(tmp_path, is_in_group=False).findings[-1]
    assert (last.check, last.state) == ("permission", State.FAULT)
    assert last.found == "this user may not use /dev/dri/renderD128 (group render, mode 0660)"
    assert last.remedy.startswith(
        "`sudo usermod -aG render $USER` and log in again; a container needs `--group-add 105`"
    )


def test_a_node_of_root_or_of_a_group_without_a_name_says_so(tmp_path: Path) -> None:
    add_gpu(tmp_path)
    for group, number, remedy in (("root", 0, "`sudo groupadd -r render`"), ("993", 993, "`--group-add 993`")):
        here = replace(machine(tmp_path, is_in_group=False), group_of=lambda _, found=(group, number): found)
        (one,) = gpu_readiness(NOTHING, here)
        assert f"(group {group}, mode 0660)" in one.findings[-1].found
        assert remedy in one.findings[-1].remedy


def test_without_probes_the_driver_is_not_looked_for(tmp_path: Path) -> None:
    add_gpu(tmp_path)
    (one,) = gpu_readiness(None, machine(tmp_path))
    assert [finding.check for finding in one.findings] == ["gpu", "kernel-driver", "permission"]


@pytest.mark.parametrize(
    ("driver", "state"),
    [
        ("24.35.30872.22", State.WARNING),
        ("26.26.99999", State.WARNING),
        ("26.27.0", State.OK),
        ("27.1.3", State.OK),
        ("dev", State.NOTE),
    ],
)
def test_an_older_driver_than_was_tested_is_a_warning(tmp_path: Path, driver: str, state: State) -> None:
    add_gpu(tmp_path)
    add_opencl_driver(tmp_path)
    finding = next(f for f in of_one(tmp_path, probed(driver=driver)).findings if f.check == "driver-version")
    assert finding.state is state
    assert finding.found.startswith(f"driver {driver}")


def test_an_older_graphics_compiler_than_was_tested_is_a_warning(tmp_path: Path) -> None:
    add_gpu(tmp_path)
    add_opencl_driver(tmp_path, "2.9.1+0")
    last = of_one(tmp_path, probed()).findings[-1]
    assert (last.check, last.state, last.found) == (
        "compiler-version",
        State.WARNING,
        "graphics compiler 2.9 is older than 2.40",
    )


def test_gpus_of_one_model_are_told_apart_by_their_addresses(tmp_path: Path) -> None:
    add_gpu(tmp_path, address="0000:03:00.0", node="renderD128")
    add_gpu(tmp_path, address="0000:04:00.0", node="renderD129")
    add_opencl_driver(tmp_path)
    first, second = gpu_readiness(probed(pci_address="0000:04:00.0"), machine(tmp_path))
    assert (first.opencl, second.opencl) == (None, "opencl:0:0")
    first, second = gpu_readiness(probed(pci_address=None), machine(tmp_path))
    assert (first.opencl, second.opencl) == ("opencl:0:0", None)


def test_a_gpu_without_a_target_is_only_noted(tmp_path: Path) -> None:
    add_gpu(tmp_path, "3E92")
    add_node(tmp_path, "renderD129")
    add_gpu(tmp_path, "FD80", "0000:04:00.0", node="renderD129")
    unknown, wildcat = gpu_readiness(NOTHING, machine(tmp_path))
    for one in (unknown, wildcat):
        assert [finding.state for finding in one.findings] == [State.NOTE]
    assert unknown.findings[0].found.endswith("PCI id 3E92 is not in the table")
    assert "no compiler target" in wildcat.findings[0].found
