"""Reports of the runtimes are merged into one entry per device, completed from the table."""

from dataclasses import replace
from pathlib import Path

from hal import DeviceKind, Fact, ListedDevice, Runtime, find, list_devices, readiness
from hal.devices.listed import NATIVE, TARGETS, Disagreement, Match
from hal.driver.installed import Driver
from hal.driver.simulated_gpus import SIMULATED_GPUS
from hal.facts.cpu import probe_cpu
from hal.facts.spec import PROBED
from hal.probe.probe import (
    ProbedDevice,
    ProbeReport,
    Probes,
)

NOTHING = ProbeReport(fault="no runtime")


def probed(address: str, kind: DeviceKind, has_dpas: bool | None = None, **values: object) -> ProbedDevice:
    facts = tuple(Fact(name, value, PROBED) for name, value in values.items())
    return ProbedDevice(address, f"device at {address}", kind, facts, has_dpas)


def gpu(address: str, pci_id: str = "E20B", has_dpas: bool | None = True, **values: object) -> ProbedDevice:
    return probed(address, DeviceKind.GPU, has_dpas, pci_ids=(pci_id,), **values)


DRIVER = Driver(Path("/nowhere"), "26.27.1", {})
CPU = probed("opencl:1:0", DeviceKind.CPU, cores=2, max_workgroup_size=8192, driver="rt 1")


def here(opencl: ProbeReport, sycl: ProbeReport = NOTHING) -> list[ListedDevice]:
    return [d for d in list_devices(Probes(opencl, sycl)) if d.runtime not in (Runtime.TABLE, Runtime.HOST)]


def test_a_probed_gpu_is_filled_in_from_its_row() -> None:
    [device] = here(ProbeReport((gpu("opencl:0:0", ip_version="20.1.4", xe_cores=20, driver="NEO 26"),)))
    spec = device.spec
    assert (spec.id, device.address, device.runnable, device.targetable) == ("b580", "opencl:0:0", True, True)
    assert (spec.driver, spec.provenance["driver"]) == ("NEO 26", PROBED)
    assert (spec.pci_ids, spec.ip_version) == (("E20B",), "20.1.4")
    assert (spec.l2_bytes, spec.provenance["l2_bytes"]) == (18 << 20, find("b580").provenance["l2_bytes"])
    assert device.note == ""  # a stepping of its own is no disagreement


def test_where_driver_and_table_disagree_the_driver_counts_and_it_is_noted() -> None:
    [device] = here(ProbeReport((gpu("opencl:0:0", xe_cores=18, memory_bytes=12_200_000_000, clock_mhz=2400),)))
    assert (device.spec.xe_cores, device.spec.memory_bytes) == (18, 12_200_000_000)
    assert (
        device.note
        == "xe_cores is 18 by the driver, 20 by the table; clock_mhz is 2400 by the driver, 2850 by the table"
    )


def test_a_match_names_the_row_and_each_fact_that_differs_with_both_values_and_sources() -> None:
    opencl = ProbeReport((gpu("opencl:0:0", xe_cores=18, eus_per_core=8, driver="NEO 26"),))
    sycl = ProbeReport((gpu("level_zero:gpu:0", xe_cores=18, bandwidth_bytes_per_s=200 * 10**9),))
    [device] = here(opencl, sycl)
    row = find("b580").provenance
    assert device.match == Match(
        "PCI id E20B",
        ("b580",),
        ("pci_ids", "eus_per_core"),
        (
            Disagreement("xe_cores", 18, "probed opencl:0:0", 20, row["xe_cores"]),
            Disagreement(
                *("bandwidth_bytes_per_s", 200 * 10**9, "probed level_zero:gpu:0"),
                *(456 * 10**9, row["bandwidth_bytes_per_s"]),
            ),
        ),
    )


def test_a_new_gpu_of_a_known_ip_version_has_what_its_rows_share() -> None:
    [device] = here(ProbeReport((gpu("opencl:0:0", "E2FF", ip_version="20.1.4", xe_cores=24),)))
    spec = device.spec
    assert (spec.id, spec.xe_cores, spec.target, spec.dpas_n, device.targetable) == ("gpu-e2ff", 24, "bmg", 16, True)
    assert (spec.clock_mhz, spec.l2_bytes, spec.bandwidth_bytes_per_s, spec.memory_bytes) == (None,) * 4
    assert device.match is not None
    assert device.match.rows == ("b580", "b570", "b60", "b50", "bmg-g21-other")
    assert device.note.startswith("PCI id E2FF is not in the table; its IP version 20.1.4 is that of b580, b570, b60")


def test_a_gpu_whose_pci_ids_are_not_public_is_found_by_its_ip_version() -> None:
    [device] = here(ProbeReport((gpu("opencl:0:0", "D740", ip_version="30.4.1"),)))
    assert (device.spec.id, device.spec.pci_ids, device.targetable) == ("nova-lake-s", ("D740",), False)


def test_a_gpu_whose_driver_denies_dpas_is_not_targeted() -> None:
    [device] = here(ProbeReport((gpu("opencl:0:0", has_dpas=False),)))
    assert device.spec.dpas_n is None
    assert not device.targetable
    assert "dpas_n is none by the driver, 16 by the table" in device.note
    assert (device.spec.dpas_f16_fma_per_clk_per_eu, device.spec.dpas_i8_mac_per_clk_per_eu) == (None, None)


def test_a_gpu_that_both_runtimes_find_is_one_entry_with_the_facts_of_both() -> None:
    opencl = ProbeReport((gpu("opencl:0:0", driver="NEO 26"), CPU))
    sycl = ProbeReport(
        (gpu("opencl:gpu:0"), gpu("level_zero:gpu:0", driver="L0", bandwidth_bytes_per_s=450 * 10**9), CPU)
    )
    device, cpu = here(opencl, sycl)
    assert (device.spec.driver, device.spec.bandwidth_bytes_per_s) == ("NEO 26", 450 * 10**9)
    assert device.note == "also SYCL level_zero:gpu:0"
    assert cpu.spec.id == "opencl-cpu"


def test_two_gpus_of_one_model_have_distinct_ids_and_their_own_twins() -> None:
    opencl = ProbeReport((gpu("opencl:0:0"), gpu("opencl:0:1")))
    first, second = here(opencl, ProbeReport((gpu("level_zero:gpu:0"), gpu("level_zero:gpu:1"))))
    assert (first.spec.id, second.spec.id) == ("b580", "b580-2")
    assert (first.note, second.note) == ("also SYCL level_zero:gpu:0", "also SYCL level_zero:gpu:1")


def test_a_gpu_that_only_sycl_finds_says_what_to_install() -> None:
    [device] = here(ProbeReport(), ProbeReport((gpu("level_zero:gpu:0", "E211"),)))
    assert (device.spec.id, device.runtime, device.runnable, device.targetable) == ("b60", Runtime.SYCL, False, True)
    assert "intel-opencl-icd" in device.note


def test_a_gpu_that_is_not_in_the_table_is_listed_with_what_it_told() -> None:
    [device] = here(ProbeReport((gpu("opencl:0:0", "E2FF", xe_cores=24),)))
    assert (device.spec.id, device.spec.xe_cores, device.targetable) == ("gpu-e2ff", 24, False)
    assert device.note.startswith("PCI id E2FF is not in the table; not targetable: it is not known to have DPAS")


def test_the_opencl_cpu_is_filled_in_from_linux() -> None:
    [device] = here(ProbeReport((CPU,)))
    assert (device.spec.id, device.runnable, device.targetable) == ("opencl-cpu", True, False)
    assert device.spec.isa is not None
    assert device.spec.max_workgroup_size == 8192
    assert not readiness(device.spec)[0].ready  # its own kernels are those of the host


def test_the_rest_of_the_table_and_the_host_are_always_listed() -> None:
    devices = list_devices(Probes(ProbeReport((gpu("opencl:0:0"),)), NOTHING))
    assert [d.spec.id for d in devices[:2]] == ["b580", probe_cpu().id]
    rows = {d.spec.id: d for d in devices[2:]}
    assert "b580" not in rows
    assert {d.runtime for d in rows.values()} == {Runtime.TABLE}
    assert not any(d.runnable for d in rows.values())
    assert rows["b60"].targetable
    assert "not targetable: no compiler target is known for it" in rows["wildcat-lake"].note
    assert {"a770", "arrow-lake-h", "meteor-lake-h"} <= {id for id, device in rows.items() if device.targetable}


def test_what_kept_a_runtime_from_being_listed_is_said_of_the_host() -> None:
    host = list_devices(Probes(NOTHING, ProbeReport(fault="SYCL needs the package dpctl")))[0]
    assert host.spec == probe_cpu()
    assert host.note == "no runtime; SYCL needs the package dpctl"
    assert (host.runtime, host.address, host.runnable, host.targetable) == (Runtime.HOST, NATIVE, True, True)


def test_gpus_come_before_the_host_and_the_host_before_opencl_on_it() -> None:
    devices = list_devices(Probes(ProbeReport((CPU, gpu("opencl:0:0"))), NOTHING))
    assert [d.spec.id for d in devices[:3]] == ["b580", probe_cpu().id, "opencl-cpu"]


def test_what_an_installed_driver_simulates_is_listed_between_this_machine_and_the_table() -> None:
    devices = list_devices(Probes(ProbeReport((gpu("opencl:0:0"), CPU)), NOTHING), DRIVER)
    simulated = devices[3 : 3 + len(SIMULATED_GPUS)]
    assert [d.runtime for d in devices if d.runtime is Runtime.SIMULATED] == [d.runtime for d in simulated]
    first = simulated[0]
    assert (first.spec.id, first.spec.driver, first.spec.target) == ("simulated-driver-b580", "26.27.1", "bmg")
    assert (first.address, first.runnable, first.targetable) == (None, False, False)
    assert first.note == "accepts kernels for bmg and executes nothing: tune for b580"
    assert (first.spec.clock_mhz, first.spec.l2_bytes, first.spec.dpas_f16_fma_per_clk_per_eu) == (None, None, None)


def test_each_compiler_target_has_one_simulated_gpu_with_the_cores_of_its_row() -> None:
    assert sorted(gpu.chip for gpu in SIMULATED_GPUS) == sorted(TARGETS)
    for gpu in SIMULATED_GPUS:
        row = find(gpu.row)
        assert (gpu.chip, gpu.slices * gpu.sub_slices) == (row.target, row.xe_cores or gpu.slices * gpu.sub_slices)


def test_a_gpu_whose_pci_id_sycl_does_not_know_is_matched_by_its_name() -> None:
    named = [replace(probed(a, DeviceKind.GPU), name="Arc [0xe20b]") for a in ("opencl:gpu:0", "level_zero:gpu:0")]
    opencl = ProbeReport((replace(gpu("opencl:0:0"), name="Arc [0xe20b]"),))
    [device] = here(opencl, ProbeReport(tuple(named)))
    assert (device.spec.id, device.note) == ("b580", "also SYCL level_zero:gpu:0")
