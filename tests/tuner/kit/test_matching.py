"""The device that a kit measures: the one that it is for, or a like one that is named."""

from dataclasses import replace

import pytest

from hal import DeviceKind, DeviceSpec, Fact, ListedDevice, Match, Runtime, UnknownDevice, find
from hal.facts.spec import spec_from_facts
from tests.tuner.fakes import emulated
from tuner.kit.matching import choose, found_devices

B580, B570, A770 = find("b580"), find("b570"), find("a770")
CPU = spec_from_facts(
    "opencl-cpu", "Some CPU", DeviceKind.CPU, [Fact("cores", 2, "probed"), Fact("max_workgroup_size", 256, "probed")]
)


def here(*specs: DeviceSpec) -> list[ListedDevice]:
    """Devices that OpenCL offers, each found by its PCI id."""
    return [
        ListedDevice(
            spec,
            Runtime.OPENCL,
            f"opencl:0:{place}",
            runnable=True,
            targetable=True,
            note="",
            match=None if spec.kind is DeviceKind.CPU else Match("PCI id", (spec.id.removesuffix("-2"),), (), ()),
        )
        for place, spec in enumerate(specs)
    ]


def chosen(wanted: DeviceSpec, listed: list[ListedDevice], name: str | None = None) -> ListedDevice:
    return choose(wanted, found_devices(wanted, listed), name)


def test_the_device_of_the_kit_is_measured_wherever_it_is_listed() -> None:
    assert chosen(B580, here(CPU, A770, B580)).address == "opencl:0:2"
    second = chosen(B580, here(B580, replace(B580, id="b580-2")), "2")
    assert (second.address, second.spec.id) == ("opencl:0:1", "b580")  # two cards of one product are one device


def test_a_device_that_runs_its_kernels_is_measured_if_it_is_named() -> None:
    listed = here(CPU, B570)
    with pytest.raises(UnknownDevice, match=r"expected .*B580 .*2\. b570 .*is not b580, and runs its kernels: name it"):
        chosen(B580, listed)
    for name in ("2", "b570", "B570"):
        assert chosen(B580, listed, name).spec.id == "b570"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("1", r"--device: opencl-cpu \(Some CPU\) is a CPU: the kernels are for Intel Arc B580"),
        ("a770", "has another target, dg2: the kernels are for bmg"),
        ("7", r"expected a number or a name out of a list, got '7'; here are 1\. opencl-cpu"),
        (None, r"expected Intel Arc B580 \(b580\), for which this kit is; here are 1\. .*; 2\. .*"),
    ],
)
def test_others_are_refused_with_the_list(name: str | None, said: str) -> None:
    with pytest.raises(UnknownDevice, match=said):
        chosen(B580, here(CPU, A770), name)


def test_a_machine_without_a_device_is_told_what_to_install() -> None:
    with pytest.raises(
        UnknownDevice, match=r"for which this kit is; no OpenCL device .* needs its driver, .*intel-opencl-icd"
    ):
        chosen(B580, [])
    with pytest.raises(
        UnknownDevice, match=r"`pip install intel-opencl-rt intel-cmplr-lib-rt` brings a driver for CPUs"
    ):
        chosen(emulated(), [])


def test_a_kit_of_an_emulated_gpu_runs_on_any_cpu() -> None:
    found = chosen(emulated(), here(CPU, B580))
    assert (found.spec.id, found.spec.emulates, found.address) == ("opencl-cpu-as-b580", "b580", "opencl:0:0")
    with pytest.raises(UnknownDevice, match="is a GPU: the kernels are for a CPU that emulates b580"):
        chosen(emulated(), here(CPU, B580), "2")


@pytest.mark.parametrize("runtime", [Runtime.SYCL, Runtime.PCI])
def test_a_gpu_without_its_opencl_driver_is_told_and_not_measured(runtime: Runtime) -> None:
    (listed,) = here(B580)
    listed = replace(listed, runtime=runtime, note="install its OpenCL driver")
    with pytest.raises(UnknownDevice, match="cannot be measured: install its OpenCL driver"):
        chosen(B580, [listed], "1")
