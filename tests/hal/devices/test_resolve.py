"""A name means one device; the CPU OpenCL device stands in for a GPU that is not here."""

import pytest

from hal import (
    DeviceKind,
    Fact,
    ListedDevice,
    Runtime,
    UnknownDevice,
    find,
    list_devices,
    open_device,
    resolve_device,
)
from hal.facts.cpu import probe_cpu
from hal.facts.spec import spec_from_facts
from hal.probe.probe import (
    ProbedDevice,
    ProbeReport,
    Probes,
)
from tests.hal.devices.test_listing import CPU, DRIVER, NOTHING, gpu

GPU = gpu("opencl:0:0", driver="NEO 26", xe_cores=19)


def devices(*found: ProbedDevice) -> list[ListedDevice]:
    return list_devices(Probes(ProbeReport(found), NOTHING))


def test_auto_is_the_first_gpu_that_can_run_and_be_targeted() -> None:
    assert resolve_device("auto", among=devices(gpu("opencl:0:0", "FD80"), GPU, CPU)).spec.id == "b580"


def test_auto_without_a_gpu_is_the_cpu_of_this_machine() -> None:
    device = resolve_device("Auto", among=devices(gpu("opencl:0:0", "FD80"), CPU))
    assert (device.spec.id, device.runtime, device.address) == (probe_cpu().id, Runtime.HOST, "native")
    assert (device.runnable, device.targetable) == (True, True)
    assert device.spec.emulates is None


@pytest.mark.parametrize("name", ["cpu", "host-cpu", "CPU", probe_cpu().id])
def test_the_cpu_of_this_machine_has_three_names(name: str) -> None:
    device = resolve_device(name, among=devices(GPU, CPU))
    assert (device.spec, device.runtime) == (probe_cpu(), Runtime.HOST)
    with pytest.raises(UnknownDevice, match=r"runs kernels for cpu-.* not for b580: leave the target out"):
        resolve_device(name, "b580", among=devices(GPU, CPU))


def test_another_cpu_is_where_it_is() -> None:
    with pytest.raises(UnknownDevice, match=f"cpu-of-another-9c is not the CPU .* which is {probe_cpu().id}: tune wh"):
        resolve_device("cpu-of-another-9c", among=devices(CPU))


def test_a_cpu_that_kernels_are_not_compiled_for_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = spec_from_facts("cpu-arm-4c", "Arm", DeviceKind.CPU, [Fact("architecture", "aarch64", "probed")])
    monkeypatch.setattr("hal.devices.listing.probe_cpu", lambda: arm)
    device = resolve_device("auto", among=devices(CPU))
    assert (device.runnable, device.targetable) == (False, False)
    with pytest.raises(UnknownDevice, match=r"on cpu-arm-4c here \(.*made for x86-64 CPUs, it is aarch64\)$"):
        open_device(device)


def test_the_opencl_cpu_stands_in_for_the_target() -> None:
    device = resolve_device("OpenCL-CPU", among=devices(CPU))
    assert (device.spec.id, device.address, device.runnable, device.targetable) == (
        *("opencl-cpu-as-b580", "opencl:1:0", True, True),
    )
    assert device.note == "DPAS emulated"
    assert resolve_device("auto", "pvc", among=devices(CPU)).spec.id == "opencl-cpu-as-max1550"


def test_the_cpu_stands_in_where_it_is_asked_to_even_beside_a_gpu() -> None:
    among = devices(GPU, CPU)
    assert resolve_device("opencl-cpu", "E211", among=among).spec.emulates == "b60"
    assert resolve_device("opencl-cpu-as-b60", among=among).spec.id == "opencl-cpu-as-b60"


def test_a_name_of_the_table_is_the_device_that_is_here_or_else_the_row() -> None:
    among = devices(GPU, CPU)
    assert resolve_device("bmg", among=among).address == "opencl:0:0"
    assert resolve_device("bmg", among=among).spec.xe_cores == 19
    row = resolve_device("pvc", among=among)
    assert (row.spec, row.runnable) == (find("max1550"), False)


def test_the_cpu_emulates_no_gpu_with_sub_groups_of_8() -> None:
    device = resolve_device("opencl-cpu", "a770", among=devices(CPU))
    assert not device.targetable
    assert "a CPU emulates sub-groups of 16, its kernels have 8" in device.note


def test_a_device_that_cannot_be_targeted_resolves_and_says_why() -> None:
    device = resolve_device("opencl-cpu", "wildcat-lake", among=devices(CPU))
    assert not device.targetable
    assert device.note.startswith("DPAS emulated; not targetable: no compiler target is known")


@pytest.mark.parametrize(
    ("name", "nearest"), [("opencl_cpu", "opencl-cpu"), ("b5800", "b580"), ("autos", "auto"), ("host_cpu", "host-cpu")]
)
def test_an_unknown_name_gets_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(UnknownDevice, match=f"no device is known as '{name}'; did you mean '{nearest}'"):
        resolve_device(name, among=devices(CPU))
    with pytest.raises(UnknownDevice, match="no Intel GPU is known as 'h100'"):
        resolve_device("opencl-cpu", "h100", among=devices(CPU))


def test_without_a_runtime_the_message_says_how_to_get_one() -> None:
    with pytest.raises(UnknownDevice, match=r"`pip install 'xetune\[opencl-cpu\]'` brings one \(.*no runtime"):
        resolve_device("auto", "b580", among=list_devices(Probes(NOTHING, NOTHING)))


def test_what_is_not_here_cannot_be_opened() -> None:
    with pytest.raises(
        UnknownDevice, match=r"no kernel can be run on max1550 here .*; 'opencl-cpu' runs kernels for it"
    ):
        open_device(resolve_device("pvc", among=devices(CPU)))


def test_a_stand_in_has_the_gpus_code_facts_and_the_cpus_speed_facts() -> None:
    spec, xe = resolve_device("opencl-cpu", among=devices(CPU)).spec, find("b580")
    assert spec.kind is DeviceKind.CPU
    for name in ("target", "grf_bytes", "dpas_m", "dpas_n", "dpas_k_bytes", "block2d_max_rows", "subgroup_sizes"):
        assert getattr(spec, name) == getattr(xe, name)
        assert spec.provenance[name] == xe.provenance[name]
    assert (spec.driver, spec.cores, spec.max_workgroup_size) == ("rt 1", 2, 1024)
    assert (spec.xe_cores, spec.clock_mhz, spec.bandwidth_bytes_per_s, spec.dpas_f16_fma_per_clk_per_eu) == (None,) * 4
    assert spec.l2_bytes != xe.l2_bytes


@pytest.mark.parametrize("name", ["b60", "opencl-cpu-as-b60"])
def test_a_target_that_contradicts_the_device_is_refused(name: str) -> None:
    among = devices(CPU)
    assert resolve_device(name, "b60", among).spec.id == name
    with pytest.raises(UnknownDevice, match="not for max1550: leave the target out"):
        resolve_device(name, "max1550", among)


@pytest.mark.parametrize("name", ["simulated-driver-b580", "Simulated-Driver-max1100"])
def test_a_simulated_gpu_is_no_device_to_run_on(name: str) -> None:
    with pytest.raises(UnknownDevice, match=r"executes none, .* name the GPU itself, (b580|max1100);"):
        resolve_device(name, among=list_devices(Probes(NOTHING, NOTHING), DRIVER))
    assert resolve_device("b580", among=list_devices(Probes(NOTHING, NOTHING), DRIVER)).runtime is Runtime.TABLE
    assert resolve_device("auto", among=list_devices(Probes(NOTHING, NOTHING), DRIVER)).runtime is Runtime.HOST


def test_auto_with_a_target_is_that_gpu_or_its_stand_in() -> None:
    assert resolve_device("auto", "b580", devices(GPU, CPU)).spec.id == "b580"
    assert resolve_device("auto", "b60", devices(GPU, CPU)).spec.id == "opencl-cpu-as-b60"
