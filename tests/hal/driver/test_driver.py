"""Intel's own driver takes what hal gives it and refuses what it should; without a GPU it executes nothing."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hal import DeviceFailed, KernelBuildFailed, LaunchSpec, RunReport, SimulatedDevice, Timing, find, lacks_dpas
from hal.devices.matching import listed_gpus
from hal.driver.installed import Driver, probe_simulated
from hal.driver.simulated_gpus import SIMULATED_GPUS, SimulatedGpu
from hal.probe.probe import ProbeReport, Probes, probe_opencl, probe_sycl
from hal.process.child import Child
from tests.hal.driver.real_driver import real_driver, run, submit_with_usm
from tests.hal.kernels import (
    expected,
    launch,
    two_steps,
    with_extension,
    with_local_memory,
    with_private_memory,
    with_required_size,
    with_subgroup_size,
)

B580 = SIMULATED_GPUS[0]
INVENTED = {"l2_bytes", "memory_bytes", "clock_mhz"}
"""Facts that the simulation does not take from the GPU."""
LARGE_GRF = "-cl-intel-256-GRF-per-thread"


@pytest.fixture(scope="module")
def driver() -> Driver:
    return real_driver()


@pytest.fixture(
    scope="module",
    params=[pytest.param(g, id=g.row, marks=[pytest.mark.slow] if g is not B580 else []) for g in SIMULATED_GPUS],
)
def gpu(request: pytest.FixtureRequest) -> SimulatedGpu:
    """One GPU of each family."""
    return request.param


@pytest.fixture(scope="module")
def device(driver: Driver, gpu: SimulatedGpu) -> Iterator[SimulatedDevice]:
    with SimulatedDevice(driver, gpu) as device:
        yield device


@pytest.fixture(scope="module")
def under_driver(driver: Driver, gpu: SimulatedGpu) -> Iterator[Child]:
    with Child(driver.interpreter(gpu)) as child:
        yield child


def only(of: LaunchSpec, **changes: object) -> LaunchSpec:
    """The launch with another single step."""
    return replace(of, steps=(replace(of.steps[0], **changes),))


def test_each_family_reports_the_facts_of_the_table(driver: Driver, gpu: SimulatedGpu) -> None:
    probed = probe_simulated(driver.folder, gpu)
    assert probed.driver_version == driver.version
    assert probed.has_dpas is not lacks_dpas(find(gpu.row))
    (listed,) = listed_gpus(Probes(ProbeReport((probed,)), ProbeReport()))
    assert listed.match is not None
    assert listed.match.rows == (gpu.row,)
    assert {each.fact for each in listed.match.disagreements} <= INVENTED
    compared = {"pci_ids", "ip_version", "subgroup_sizes", "max_slm_bytes", "max_workgroup_size", "xe_cores"}
    compared |= {"block2d", "fp64", "bf16_conversions"}
    assert compared <= set(listed.match.agreed)
    assert probed.spirv is not None
    assert probed.spirv.extensions is not None
    assert "1.4" in (probed.spirv.versions or ())


def test_sycl_lists_the_gpu_under_both_backends(under_driver: Child, gpu: SimulatedGpu) -> None:
    report = under_driver.call(60, probe_sycl)
    assert isinstance(report, ProbeReport)
    assert {"opencl:gpu:0", "level_zero:gpu:0"} <= {device.address for device in report.devices}
    sizes = find(gpu.row).subgroup_sizes
    assert all(device.fact("subgroup_sizes") == sizes for device in report.devices if "gpu" in device.address)
    opencl = under_driver.call(60, probe_opencl)
    assert isinstance(opencl, ProbeReport)
    (one,) = listed_gpus(Probes(opencl, report))
    assert (one.spec.id, one.note.partition(";")[0]) == (gpu.row, "also SYCL level_zero:gpu:0")


@pytest.mark.parametrize("options", ["", LARGE_GRF])
def test_a_program_is_built_with_each_build_option_that_is_used(
    device: SimulatedDevice, gpu: SimulatedGpu, options: str
) -> None:
    accepted = device.accept(replace(with_subgroup_size(16), build_options=options), 60)
    assert (accepted.driver, accepted.chip) == (device.driver.version, gpu.chip)
    (kernel,) = accepted.kernels
    assert (kernel.kernel, kernel.local_size, kernel.subgroup_size) == ("kernel_under_test", None, 16)
    assert kernel.max_local_size == (512 if options == LARGE_GRF else 1024)


def test_a_kernel_says_what_it_requires(device: SimulatedDevice) -> None:
    (kernel,) = device.accept(with_required_size(64), 60).kernels
    assert (kernel.local_size, kernel.private_bytes, kernel.spill_bytes) == ((64, 1, 1), 0, 0)
    (kernel,) = device.accept(with_local_memory(2**16), 60).kernels
    assert kernel.slm_bytes == 2**16
    for size in (16, 32):
        (kernel,) = device.accept(with_private_memory(256, size), 60).kernels
        assert (kernel.subgroup_size, kernel.private_bytes) == (size, 256 * size)


def test_sub_groups_of_8_are_built_where_the_table_has_them(device: SimulatedDevice, gpu: SimulatedGpu) -> None:
    if 8 in (find(gpu.row).subgroup_sizes or ()):
        (kernel,) = device.accept(with_subgroup_size(8), 60).kernels
        assert kernel.subgroup_size == 8
        return
    with pytest.raises(KernelBuildFailed, match="BUILD_PROGRAM_FAILURE"):
        device.accept(with_subgroup_size(8), 60)


@pytest.mark.parametrize("once", [False, True])
def test_a_launch_of_several_steps_is_accepted(device: SimulatedDevice, once: bool) -> None:
    assert [kernel.kernel for kernel in device.accept(two_steps(once=once), 60).kernels] == ["first", "second"]


def test_buffers_larger_than_this_machine_are_accepted(device: SimulatedDevice) -> None:
    of = launch()
    large = tuple(replace(argument, nbytes=2 * 2**30) for argument in of.arguments)
    assert device.accept(replace(of, arguments=large), 60).kernels


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (only(with_required_size(64), local_size=(32, 1, 1)), "INVALID_WORK_GROUP_SIZE"),
        (only(launch(), local_size=(2048, 1, 1)), "INVALID_WORK_GROUP_SIZE"),
        (with_local_memory(2**18), "OUT_OF_RESOURCES|SLM|local memory"),
        (with_subgroup_size(4), "BUILD_PROGRAM_FAILURE"),
        (with_extension("SPV_XETUNE_unknown"), "lacks SPV_XETUNE_unknown, which kernel kernel_under_test needs"),
        (only(launch(), kernel="another"), "refused kernel another"),
        (only(launch(), parameters=(0, 1)), "takes 3 arguments, the launch gives it 2"),
        (replace(launch(), binary=launch().binary[:200]), "is not SPIR-V: an instruction at word"),
    ],
)
def test_what_the_driver_refuses_is_told_and_it_accepts_the_next(
    device: SimulatedDevice, refused: LaunchSpec, message: str
) -> None:
    with pytest.raises(KernelBuildFailed, match=message):
        device.accept(refused, 60)
    assert device.accept(launch(), 60).kernels


@pytest.mark.parametrize(
    ("refused", "kind", "message"),
    [
        (only(with_required_size(64), local_size=(32, 1, 1)), DeviceFailed, "refused to run .*INVALID_WORK_GROUP_SIZE"),
        (with_local_memory(2**18), KernelBuildFailed, "refused kernel kernel_under_test .*OUT_OF_RESOURCES"),
        (with_extension("SPV_XETUNE_unknown"), KernelBuildFailed, "lacks SPV_XETUNE_unknown, which kernel"),
        (with_subgroup_size(4), KernelBuildFailed, "refused kernel kernel_under_test"),
    ],
)
def test_a_run_that_the_driver_refuses_is_an_error_and_the_next_is_none(
    under_driver: Child, gpu: SimulatedGpu, refused: LaunchSpec, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        under_driver.call(60, run, gpu.row, refused, None)
    assert isinstance(under_driver.call(60, run, gpu.row, launch(), None), RunReport)


def test_a_run_on_it_has_no_results_and_no_times(under_driver: Child, gpu: SimulatedGpu) -> None:
    timing = Timing(min_samples=3, min_time_s=0, max_time_s=2, warmup_s=0)
    for of in (launch(), two_steps(), two_steps(once=True)):
        report = under_driver.call(60, run, gpu.row, of, timing)
        assert isinstance(report, RunReport)
        assert set(report.times_us) == {0.0}, "events are there, and say nothing"
        assert not any(np.array_equal(output, expected()) for output in report.outputs.values())


@pytest.mark.parametrize("backend", ["opencl", pytest.param("level_zero", marks=pytest.mark.slow)])
def test_sycl_launches_on_unified_shared_memory(driver: Driver, gpu: SimulatedGpu, backend: str) -> None:
    with Child(driver.interpreter(gpu)) as child:
        assert child.call(60, submit_with_usm, backend) == "complete"


def test_a_driver_that_does_not_start_is_a_failure_with_its_words(tmp_path: Path) -> None:
    driver = Driver(tmp_path, "26.27.1", {})
    with SimulatedDevice(driver, B580) as device, pytest.raises(DeviceFailed, match=r"cannot be started: .*ld-linux"):
        device.accept(launch(), 5)


def test_the_page_has_the_checks_of_each_family() -> None:
    page = (Path(__file__).parents[3] / "docs/driver.md").read_text()
    (table,) = re.findall(r"^\| check \| (.+) \|\n\|[-:|]+\n((?:\|.+\n)+)", page, re.MULTILINE)
    assert table[0].split(" | ") == [gpu.row for gpu in SIMULATED_GPUS]
    source = Path(__file__).read_text()
    checks = re.findall(r"^def test_\w+\(\s*(?:[^)]*\b(?:gpu|device|under_driver): [^)]*)\)", source, re.MULTILINE)
    assert len(table[1].splitlines()) == len(checks)
