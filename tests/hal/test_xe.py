"""The table of Intel GPUs: found by any of their names, every fact sourced, in agreement with the collected data."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from hal import XE_DEVICES, UnknownDevice, find, untargetable_reason
from hal.spec import DERIVED
from hal.xe import find_by_pci_id

HARDWARE = Path(__file__).parents[3] / "shared/data/hardware.csv"


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
    ],
)
def test_a_gpu_is_found_by_id_alias_and_pci_id(name: str, id: str) -> None:
    assert find(name).id == id


def test_an_unknown_name_gets_the_nearest_and_the_known_ids() -> None:
    with pytest.raises(
        UnknownDevice, match=r"'b5800'; did you mean 'b580'\? known ids: max1550, max1100, .*arrow-lake-h"
    ):
        find("b5800")
    with pytest.raises(UnknownDevice, match="'xyz'; known ids"):
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
            assert fact.provenance == DERIVED or len(fact.provenance) > len("table:"), (row.spec.id, fact)


def test_what_targets_a_gpu_needs_is_known_of_those_that_are_targeted() -> None:
    targeted = [row.spec for row in XE_DEVICES if untargetable_reason(row.spec) is None]
    assert {"max1550", "max1100", "b580", "b60", "lunar-lake", "panther-lake-12xe"} <= {spec.id for spec in targeted}
    for spec in targeted:
        needed = (spec.grf_bytes, spec.grf_modes, spec.dpas_m, spec.dpas_n, spec.dpas_k_bytes, spec.target)
        limits = (
            spec.block2d_max_rows,
            spec.block2d_max_width_bytes,
            spec.block2d_pitch_multiple_bytes,
            spec.block2d_min_width_bytes,
            spec.block2d_base_alignment_bytes,
            spec.max_slm_bytes,
            spec.max_workgroup_size,
        )
        assert None not in (*needed, *limits), spec.id


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a770", "its DPAS needs sub-groups of 8, kernels are written for 16; it has no 2-D block loads"),
        ("max1550vg", "it has no DPAS"),
        ("meteor-lake-h", "it has no DPAS; it has no 2-D block loads"),
        ("wildcat-lake", "no compiler target is known for it (there are pvc, bmg, lnl-m, ptl-h)"),
    ],
)
def test_what_cannot_be_targeted_says_why(name: str, reason: str) -> None:
    assert untargetable_reason(find(name)) == reason


@pytest.mark.skipif(not HARDWARE.exists(), reason="needs the collected data")
def test_the_table_agrees_with_the_collected_data() -> None:
    compared = 0
    for row in csv.DictReader(HARDWARE.read_text(encoding="utf-8").splitlines()):
        stated = {
            "ip_version": row["ip_version"].partition(" ")[0],
            "xe_cores": row["xe_cores"],
            "eus_per_core": row["eu_per_core"],
            "threads_per_eu": row["threads_per_eu_small_grf"],
            "threads_per_eu_large_grf": row["threads_per_eu_large_grf"],
            "grf_bytes": row["grf_bytes"],
            "dpas_n": row["dpas_exec_n"],
            "dpas_f16_fma_per_clk_per_eu": row["dpas_f16_fma_per_clk_per_eu"].partition(" ")[0],
        }
        for pci_id in filter(None, row["pci_ids"].split(";")):
            if row["device"].startswith("Max 1550 (2"):
                continue  # ours is the row of one stack
            spec = find_by_pci_id(pci_id[:4])
            assert spec is not None, pci_id
            for name, text in stated.items():
                ours = getattr(spec, name)
                if ours is not None and text.replace(".", "").isdigit():
                    assert str(ours) == text, (spec.id, name)
                    compared += 1
    assert compared > 400
