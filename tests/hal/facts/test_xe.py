"""The table of Intel GPUs: found by any of their names, every fact sourced, in agreement with the collected data."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from hal import XE_DEVICES, DeviceSpec, UnknownDevice, find, lacks_dpas, untargetable_reason
from hal.errors import AmbiguousDevice
from hal.facts.spec import DERIVED
from hal.facts.xe import (
    find_by_ip_version,
    find_by_pci_id,
    row_of,
)

HARDWARE = Path(__file__).parents[4] / "shared/data/hardware.csv"


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("b580", "b580"),
        ("B580", "b580"),
        ("arc-b580", "b580"),
        ("bmg", "b580"),
        ("E20B", "b580"),
        ("0xe20b", "b580"),
        ("8086:E20B", "b580"),
        (" pvc ", "max1550"),
        ("0bda", "max1100"),
        ("140V", "lunar-lake"),
        ("arc-b390", "panther-lake-12xe"),
        ("Arc B580", "b580"),
        ("Intel(R) Arc(TM) B580 Graphics", "b580"),
        ("Intel® Data Center GPU Max 1100", "max1100"),
        ("Intel Data Center GPU Max 1550, one stack", "max1550"),
        ("Intel Lunar Lake (Arc 140V, 130V)", "lunar-lake"),
    ],
)
def test_a_gpu_is_found_by_id_alias_pci_id_and_full_name(name: str, id: str) -> None:
    assert find(name).id == id


def test_an_unknown_name_gets_the_nearest_and_where_all_are_listed() -> None:
    said = r"'b5800'; did you mean 'b580'( or '[\w-]+'){0,2}\? `xetune devices` lists what is known$"
    with pytest.raises(UnknownDevice, match=said):
        find("b5800")
    with pytest.raises(UnknownDevice, match="'xyz'; `xetune devices` lists"):
        find("xyz")
    assert find_by_pci_id("FFFF") is None


def test_no_name_and_no_pci_id_is_used_twice() -> None:
    names = Counter(name for row in XE_DEVICES for name in (row.spec.id, *row.aliases))
    pci_ids = Counter(pci_id for row in XE_DEVICES for pci_id in row.spec.pci_ids or ())
    assert [name for name, uses in (names + pci_ids).items() if uses > 1] == []
    assert all(len(pci_id) == 4 and pci_id == pci_id.upper() for pci_id in pci_ids)


def test_every_fact_names_its_source() -> None:
    for row in XE_DEVICES:
        for fact in row.spec.facts():
            kind, _, source = fact.provenance.partition(":")
            assert kind in ("table", DERIVED), (row.spec.id, fact)
            assert source.strip(), (row.spec.id, fact)


def test_what_targets_a_gpu_needs_is_known_of_those_that_are_targeted() -> None:
    targeted = [row.spec for row in XE_DEVICES if untargetable_reason(row.spec) is None]
    assert {"max1550", "max1100", "b580", "b60", "lunar-lake", "panther-lake-12xe"} <= {spec.id for spec in targeted}
    for spec in targeted:
        dpas = (8, 8, 32) if lacks_dpas(spec) else (spec.dpas_m, spec.dpas_n, spec.dpas_k_bytes)
        needed = (spec.grf_bytes, spec.grf_modes, *dpas, spec.target, spec.max_slm_bytes, spec.max_workgroup_size)
        assert None not in needed, spec.id
        if not spec.block2d:
            continue
        limits = (
            spec.block2d_max_rows,
            spec.block2d_max_width_bytes,
            spec.block2d_pitch_multiple_bytes,
            spec.block2d_min_width_bytes,
            spec.block2d_base_alignment_bytes,
        )
        assert None not in limits, spec.id


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        *(
            (id, "no compiler target is known for it (there are pvc, bmg, lnl-m, ptl-h, dg2, arl-h, mtl-h, mtl-u)")
            for id in ("max1550vg", "wildcat-lake")
        ),
    ],
)
def test_what_cannot_be_targeted_says_why(name: str, reason: str) -> None:
    assert untargetable_reason(find(name)) == reason


def test_an_ip_version_finds_its_only_gpu_and_asks_which_of_several() -> None:
    assert find("20.4.4").id == "lunar-lake"
    assert find("20.4").id == "lunar-lake"
    assert find("30.4.0").id == "nova-lake-s"  # the third number is the stepping
    assert find("12.61.7").id == "max1550vg"
    assert [spec.id for spec in find_by_ip_version("20.2.0")] == ["b70", "b65", "bmg-g31-other"]
    with pytest.raises(AmbiguousDevice, match=r"20\.2\.0 is that of several GPUs, name one of them: b70, b65, bmg"):
        find("20.2.0")
    with pytest.raises(UnknownDevice, match=r"no Intel GPU is known as '99\.1\.0'"):
        find("99.1.0")


def test_every_grf_mode_has_its_threads_and_their_registers_fit() -> None:
    for row in XE_DEVICES:
        spec = row.spec
        modes, threads = spec.grf_modes, spec.threads_per_eu_by_grf_mode
        if modes is None or threads is None:
            assert modes == threads, spec.id
            continue
        assert len(modes) == len(threads)
        assert (threads[0], threads[-1]) == (spec.threads_per_eu, spec.threads_per_eu_large_grf)
        assert max(mode * count for mode, count in zip(modes, threads, strict=True)) == 1024


# What the sources print as peak f16 Tflop/s or int8 TOPS, and how far rounding lets our facts be from it.
@pytest.mark.parametrize(
    ("id", "rate", "peak", "within"),
    [
        ("max1550", "dpas_f16_fma_per_clk_per_eu", 419.43, 0.001),
        ("max1550", "dpas_i8_mac_per_clk_per_eu", 1678 / 2, 0.001),
        ("max1550", "dpas_tf32_fma_per_clk_per_eu", 419 / 2, 0.002),
        ("max1550-aurora", "dpas_f16_fma_per_clk_per_eu", 344, 0.001),
        ("max1100", "dpas_f16_fma_per_clk_per_eu", 355.53, 0.001),
        ("b580", "dpas_f16_fma_per_clk_per_eu", 116.74, 0.001),
        ("b580", "dpas_i8_mac_per_clk_per_eu", 233, 0.003),
        ("b570", "dpas_f16_fma_per_clk_per_eu", 103.22, 0.001),
        ("b60", "dpas_f16_fma_per_clk_per_eu", 98.304, 0.001),
        ("b60", "dpas_i8_mac_per_clk_per_eu", 197, 0.003),
        ("b70", "dpas_i8_mac_per_clk_per_eu", 367, 0.001),
        ("b65", "dpas_i8_mac_per_clk_per_eu", 197, 0.003),
        ("lunar-lake", "dpas_i8_mac_per_clk_per_eu", 67, 0.01),
        ("panther-lake-12xe", "dpas_i8_mac_per_clk_per_eu", 120, 0.03),
        ("a770", "dpas_f16_fma_per_clk_per_eu", 157, 0.003),
    ],
)
def test_cores_rates_and_clock_give_the_printed_peak(id: str, rate: str, peak: float, within: float) -> None:
    spec = find(id)
    assert spec.xe_cores is not None
    assert spec.eus_per_core is not None
    assert spec.clock_mhz is not None
    ours = spec.xe_cores * spec.eus_per_core * getattr(spec, rate) * 2 * spec.clock_mhz * 1e6 / 1e12
    assert ours == pytest.approx(peak, rel=within)


def test_a_stack_has_the_numbers_of_one_stack() -> None:
    stack = find("max1550")
    assert (stack.xe_cores, stack.l2_bytes, stack.memory_bytes) == (64, 204 << 20, 64 << 30)
    assert stack.bandwidth_bytes_per_s == 1_638_400_000_000
    for id in ("max1550", "max1550-aurora", "max1350", "max1450", "max1550vg"):
        row = row_of(id)
        assert row is not None
        assert any("two stacks" in note for note in row.notes), id


_CELLS = {
    "ip_version": "ip_version",
    "xe_cores": "xe_cores",
    "eu_per_core": "eus_per_core",
    "threads_per_eu_small_grf": "threads_per_eu",
    "threads_per_eu_large_grf": "threads_per_eu_large_grf",
    "grf_bytes": "grf_bytes",
    "dpas_exec_n": "dpas_n",
    "dpas_f16_fma_per_clk_per_eu": "dpas_f16_fma_per_clk_per_eu",
    "l1_slm_per_core_KB": "l1_bytes",
    "max_slm_per_wg_KB": "max_slm_bytes",
    "l2_MB": "l2_bytes",
    "mem_GBps": "bandwidth_bytes_per_s",
    "mem_GB": "memory_bytes",
}
_UNITS = {"l1_bytes": 2**10, "max_slm_bytes": 2**10, "l2_bytes": 2**20, "bandwidth_bytes_per_s": 10**9}
_UNITS["memory_bytes"] = 2**30
_WITHOUT_PCI_IDS = {"Nova Lake-S": "nova-lake-s", "Nova Lake-P": "nova-lake-p"}


def _specs_of(row: dict[str, str]) -> list[DeviceSpec]:
    """Our rows of one row of the data."""
    if row["device"].startswith("Max 1550 1"):
        return [find("max1550-aurora")]
    if row["device"].startswith("Max 1550 (2"):
        return [find("max1550")]
    if row["device"] in _WITHOUT_PCI_IDS:
        return [find(_WITHOUT_PCI_IDS[row["device"]])]
    found = [find_by_pci_id(pci_id[:4]) for pci_id in row["pci_ids"].split(";")]
    assert None not in found, row["device"]
    return [spec for spec in found if spec is not None]


@pytest.mark.skipif(not HARDWARE.exists(), reason="needs the collected data")
def test_the_table_has_every_row_of_the_collected_data_and_agrees_with_it() -> None:
    compared, seen = 0, set[str]()
    for row in csv.DictReader(HARDWARE.read_text(encoding="utf-8").splitlines()):
        for spec in _specs_of(row):
            seen.add(spec.id)
            if row["device"].startswith("Max 1550 (2"):
                continue  # ours is the row of one stack
            assert spec.block2d == row["block2d"].startswith("yes"), spec.id
            for cell, name in _CELLS.items():
                text, ours = row[cell].partition(" ")[0], getattr(spec, name)
                if ours is None or not text or "unsourced" in row[cell] or not text.replace(".", "").isdigit():
                    continue
                told = ours if name == "ip_version" else ours / _UNITS.get(name, 1)
                near = text if name == "ip_version" else pytest.approx(float(text), rel=0.001)
                assert told == near, (spec.id, name)
                compared += 1
    assert seen == {row.spec.id for row in XE_DEVICES}
    assert compared > 750
