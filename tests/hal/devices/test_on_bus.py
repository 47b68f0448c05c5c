"""GPUs on the bus are listed with what keeps them from being used."""

from pathlib import Path

from hal import ListedDevice, Runtime, list_devices, resolve_device
from hal.devices.listed import Match
from hal.facts.cpu import probe_cpu
from hal.facts.xe import find
from hal.probe.findings import State
from hal.probe.probe import ProbeReport, Probes
from tests.hal.machines import NOTHING, add_gpu, add_opencl_driver, machine, probed


def listed(root: Path, probes: Probes = NOTHING, *, is_in_group: bool = True) -> list[ListedDevice]:
    return list_devices(probes, machine=machine(root, is_in_group=is_in_group))


def test_a_gpu_without_a_driver_is_listed_before_the_cpu_and_auto_does_not_choose_it(tmp_path: Path) -> None:
    add_gpu(tmp_path, driver=None, node=None)
    devices = listed(tmp_path)
    assert [device.spec.id for device in devices].count("b580") == 1
    b580, cpu = devices[:2]
    assert (b580.spec, b580.runtime, b580.runnable, b580.targetable) == (find("b580"), Runtime.PCI, False, True)
    assert b580.note.startswith("it is in this machine, at 0000:03:00.0; no kernel driver is bound to it: load it, ")
    assert [finding.state for finding in b580.findings] == [State.OK, State.FAULT]
    assert cpu.spec.id == probe_cpu().id == resolve_device("auto", among=devices).spec.id
    assert resolve_device("b580", among=devices) is b580


def test_a_gpu_that_runs_kernels_under_an_old_driver_says_so(tmp_path: Path) -> None:
    add_gpu(tmp_path)
    add_opencl_driver(tmp_path)
    b580 = listed(tmp_path, probed(driver="24.35.30872"))[0]
    assert (b580.runnable, b580.runtime) == (True, Runtime.OPENCL)
    assert "driver 24.35.30872 is older than 26.27: install Intel's compute runtime 26.27 or newer" in b580.note


def test_a_b570_that_is_ready_has_18_cores_and_nothing_to_note(tmp_path: Path) -> None:
    add_gpu(tmp_path, "E20C")
    add_opencl_driver(tmp_path)
    b570 = listed(tmp_path, probed("E20C", xe_cores=18, eus_per_core=8))[0]
    assert (b570.spec.id, b570.spec.xe_cores, b570.note) == ("b570", 18, "")
    assert b570.match == Match("PCI id E20C", ("b570",), ("pci_ids", "xe_cores", "eus_per_core"), ())
    assert len(b570.findings) == 6


def test_a_gpu_that_only_sycl_shows_is_one_entry(tmp_path: Path) -> None:
    add_gpu(tmp_path)
    opencl = probed().opencl.devices[0]
    devices = listed(tmp_path, Probes(ProbeReport(), ProbeReport((opencl,))))
    gpus = [device for device in devices if device.spec.id.startswith("b580")]
    assert [(gpu.runtime, gpu.findings[-1].check) for gpu in gpus] == [(Runtime.SYCL, "opencl-driver")]


def test_two_gpus_that_only_sycl_shows_have_their_own_findings(tmp_path: Path) -> None:
    add_gpu(tmp_path)
    add_gpu(tmp_path, address="0000:04:00.0", driver=None, node=None)
    gpu = probed().opencl.devices[0]
    first, second = listed(tmp_path, Probes(ProbeReport(), ProbeReport((gpu, gpu))))[:2]
    assert [(d.spec.id, d.runtime) for d in (first, second)] == [("b580", Runtime.SYCL), ("b580-2", Runtime.SYCL)]
    assert [d.findings[-1].check for d in (first, second)] == ["opencl-driver", "kernel-driver"]


def test_a_second_gpu_without_a_driver_has_an_id_of_its_own(tmp_path: Path) -> None:
    add_gpu(tmp_path)
    add_gpu(tmp_path, address="0000:04:00.0", driver=None, node=None)
    add_opencl_driver(tmp_path)
    first, second = listed(tmp_path, probed())[:2]
    assert [(d.spec.id, d.runtime) for d in (first, second)] == [("b580", Runtime.OPENCL), ("b580-2", Runtime.PCI)]
