"""Table of Intel GPUs: one row a device, each fact with the public source that states it.

A fact that no source states is left out. Nothing here is measured; a probe of the device itself overrides a row.
`l1_bytes` is the storage that a core's L1 cache and shared local memory share.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from typing import NamedTuple

from hal.errors import UnknownDevice
from hal.spec import DERIVED, DeviceKind, DeviceSpec, Fact, spec_from_facts, table

NEO = "intel/compute-runtime@e37c60bf"  # devices_base.inl, platforms.h, device_ids_configs, hw_info
ONEDNN = "oneDNN@3f27bec2"  # device_info.cpp, kernel.db
TRITON = "intel-xpu-backend-for-triton gpu_info.json"
BLOCK_2D = "registry.khronos.org cl_intel_subgroup_2d_block_io"
MATRIX = "registry.khronos.org cl_intel_subgroup_matrix_multiply_accumulate"
HOTCHIPS_PVC = "Hot Chips 34, Ponte Vecchio"
PANTHER_LAKE = "Intel, Panther Lake product pages"
LUNAR_LAKE_ARTICLE = "chipsandcheese.com, Lunar Lake's iGPU"
BATTLEMAGE_ARTICLE = "chipsandcheese.com, Intel's Battlemage architecture"
PVC_ARTICLE = "chipsandcheese.com, Ponte Vecchio"
BMG_COMPARISON = "zolotukhin.ai, Battlemage comparison"

KIB, MIB, GIB, GB = 2**10, 2**20, 2**30, 10**9

Facts = tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class XeDevice:
    """One row: the spec, and the other names people use for the device."""

    spec: DeviceSpec
    aliases: tuple[str, ...]


def _stated(source: str, **values: object) -> Facts:
    return tuple(Fact(name, value, table(source)) for name, value in values.items())


def _derived(**values: object) -> Facts:
    return tuple(Fact(name, value, DERIVED) for name, value in values.items())


class _Named(NamedTuple):
    id: str
    name: str
    aliases: tuple[str, ...]
    pci_ids: tuple[str, ...]


def _named(id: str, name: str, aliases: str, pci_ids: str) -> _Named:
    return _Named(id, name, tuple(aliases.split()), tuple(pci_ids.split()))


def _row(named: _Named, *groups: Facts) -> XeDevice:
    facts = (*_stated(NEO, pci_ids=named.pci_ids), *chain.from_iterable(groups))
    return XeDevice(spec_from_facts(named.id, named.name, DeviceKind.GPU, facts), named.aliases)


# What devices of one architecture have in common.

# One DPAS multiplies up to 8 rows by 32 bytes of K by one element of N a lane; lanes are the smallest sub-group.
DPAS = _stated(MATRIX, dpas_m=8, dpas_k_bytes=32)
DPAS_16 = (*DPAS, *_stated(MATRIX, dpas_n=16))
DPAS_8 = (*DPAS, *_stated(MATRIX, dpas_n=8))
NO_DPAS = _stated(NEO, dpas_f16_fma_per_clk_per_eu=0)

BLOCK2D = _stated(
    BLOCK_2D,
    block2d=True,
    block2d_max_rows=32,
    block2d_max_width_bytes=64,
    block2d_pitch_multiple_bytes=16,
    block2d_min_width_bytes=64,
    block2d_base_alignment_bytes=64,
)
NO_BLOCK2D = _stated(NEO, block2d=False)

WIDE = (  # 64-byte registers, eight engines a core
    *_stated(NEO, eus_per_core=8, grf_bytes=64, subgroup_sizes=(16, 32), threads_per_eu_large_grf=4),
    *BLOCK2D,
)
NARROW = (  # 32-byte registers, sixteen engines a core
    *_stated(NEO, eus_per_core=16, grf_bytes=32, grf_modes=(128, 256), subgroup_sizes=(8, 16, 32)),
    *_stated(NEO, threads_per_eu=8, threads_per_eu_large_grf=4, max_slm_bytes=64 * KIB, max_workgroup_size=1024),
    *NO_BLOCK2D,
)

XE_HPC_WITHOUT_DPAS = (
    *_stated(NEO, architecture="Xe-HPC", threads_per_eu=8, grf_modes=(128, 256)),
    *_stated(NEO, max_slm_bytes=128 * KIB, max_workgroup_size=1024),
    *_stated(ONEDNN, slm_bytes_per_core=128 * KIB),
    *_stated(HOTCHIPS_PVC, l1_bytes=512 * KIB),
    *WIDE,
)
XE_HPC = (
    *_stated(NEO, target="pvc", ip_version="12.60.7"),
    *_stated(ONEDNN, dpas_f16_fma_per_clk_per_eu=256),
    *DPAS_16,
    *XE_HPC_WITHOUT_DPAS,
)
XE2 = (
    # Peak over cores, engines and clock of the B580: 116.74 Tflop/s / (20 * 8 * 2 * 2.85 GHz).
    *_derived(dpas_f16_fma_per_clk_per_eu=128),
    *_stated(NEO, threads_per_eu=8, grf_modes=(128, 256), max_slm_bytes=128 * KIB),
    # The driver's code allows 2048; PyTorch was told 1024 by a B580.
    *_stated("PyTorch device properties of a B580", max_workgroup_size=1024),
    *_stated(ONEDNN, slm_bytes_per_core=128 * KIB),
    *DPAS_16,
    *WIDE,
)
BMG = (*_stated(NEO, target="bmg", architecture="Xe2-HPG"), *_stated(BATTLEMAGE_ARTICLE, l1_bytes=256 * KIB), *XE2)
BMG_G21 = (*_stated(NEO, ip_version="20.1.0"), *BMG)
BMG_G31 = (*_stated(NEO, ip_version="20.2.0"), *BMG)
LNL = (*_stated(NEO, target="lnl-m", architecture="Xe2-LPG", ip_version="20.4.4"), *XE2)
XE3 = (
    # As Xe2; 120 TOPS of int8 from 12 cores agree with it at 2.44 GHz.
    *_derived(dpas_f16_fma_per_clk_per_eu=128),
    *_stated(NEO, architecture="Xe3-LPG", threads_per_eu=10, grf_modes=(32, 64, 96, 128, 160, 192, 256)),
    *_stated(NEO, max_slm_bytes=128 * KIB, max_workgroup_size=2048),
    *_stated(ONEDNN, slm_bytes_per_core=128 * KIB),
    *DPAS_16,
    *WIDE,
)
PTL_H = (*_stated(NEO, target="ptl-h", ip_version="30.0.4"), *XE3)
# The U part has an IP version of its own; code for the H part is code of the same Xe3 cores.
PTL_U = (*_stated(NEO, ip_version="30.1.0"), *_derived(target="ptl-h"), *XE3)
XE_HPG = (
    *_stated(NEO, target="dg2", architecture="Xe-HPG"),
    *_stated(ONEDNN, dpas_f16_fma_per_clk_per_eu=64, slm_bytes_per_core=128 * KIB),
    *DPAS_8,
    *NARROW,
)
DG2_G10 = (*_stated(NEO, ip_version="12.55.8"), *XE_HPG)
DG2_G11 = (*_stated(NEO, ip_version="12.56.5"), *XE_HPG)
DG2_G12 = (*_stated(NEO, ip_version="12.57.0"), *XE_HPG)
XE_LPG = (*_stated(NEO, architecture="Xe-LPG"), *NO_DPAS, *NARROW)
XE_LPG_PLUS = (
    *_stated(NEO, target="arl-h", architecture="Xe-LPG+", ip_version="12.74.4"),
    *_stated(ONEDNN, dpas_f16_fma_per_clk_per_eu=64),
    *DPAS_8,
    *NARROW,
)


# The devices. Two-stack Max cards are listed by the stack: it is what one kernel runs on.
XE_DEVICES = (
    _row(
        _named("max1550", "Intel Data Center GPU Max 1550, one stack", "max-1550 max1550-stack pvc", "0BD5 0BD6"),
        _stated("argonne-lcf/user-guides", clock_mhz=1600),
        _stated(TRITON, xe_cores=64),
        _stated(HOTCHIPS_PVC, l2_bytes=204 * MIB),
        _derived(bandwidth_bytes_per_s=1_638_400_000_000),  # half of the card's 3276.8 GB/s
        XE_HPC,
    ),
    _row(
        _named("max1100", "Intel Data Center GPU Max 1100", "max-1100", "0BD9 0BDA 0BDB 0B6E"),
        _stated(TRITON, xe_cores=56, clock_mhz=1550, bandwidth_bytes_per_s=1_228_800_000_000, memory_bytes=48 * GIB),
        _stated(PVC_ARTICLE, l2_bytes=108 * MIB),
        XE_HPC,
    ),
    _row(_named("max1350", "Intel Data Center GPU Max 1350, one stack", "max-1350", "0BD7 0BD8"), XE_HPC),
    _row(_named("max1450", "Intel Data Center GPU Max 1450, one stack", "max-1450", "0B69"), XE_HPC),
    _row(
        _named("max1550vg", "Intel Data Center GPU Max 1550VG, one stack", "max-1550vg pvc-vg", "0BD4"),
        _stated(NEO, target="pvc-vg", ip_version="12.61.7"),
        NO_DPAS,
        XE_HPC_WITHOUT_DPAS,
    ),
    _row(
        _named("b580", "Intel Arc B580", "arc-b580 bmg bmg-g21 battlemage", "E20B E209"),
        _stated(TRITON, xe_cores=20, clock_mhz=2850, bandwidth_bytes_per_s=456 * GB, memory_bytes=12 * GIB),
        _stated("intel/mlir-extensions Performance_report", l2_bytes=18 * MIB),
        BMG_G21,
    ),
    _row(
        _named("b570", "Intel Arc B570", "arc-b570", "E20C"),
        _stated(TRITON, xe_cores=18, clock_mhz=2500, bandwidth_bytes_per_s=380 * GB, memory_bytes=10 * GIB),
        BMG_G21,
    ),
    _row(
        _named("b60", "Intel Arc Pro B60", "arc-pro-b60 arc-b60", "E211"),
        _stated(
            "ai-dynamo/aiconfigurator b60.yaml",
            xe_cores=20,
            clock_mhz=2400,
            bandwidth_bytes_per_s=456 * GB,
            memory_bytes=24 * GIB,
        ),
        _derived(l2_bytes=18 * MIB),  # the die of the B580
        BMG_G21,
    ),
    _row(
        _named("b50", "Intel Arc Pro B50", "arc-pro-b50 arc-b50", "E212"),
        _stated("llvm/lighthouse xegpu_specs.py", xe_cores=16, bandwidth_bytes_per_s=224 * GB),
        BMG_G21,
    ),
    _row(_named("bmg-g21-other", "Intel BMG-G21, other", "", "E202 E20D E210 E215 E216"), BMG_G21),
    _row(
        _named("b70", "Intel Arc Pro B70", "arc-pro-b70 arc-b70 bmg-g31", "E223"),
        _stated("llvm/lighthouse xegpu_specs.py", xe_cores=32, bandwidth_bytes_per_s=608 * GB),
        BMG_G31,
    ),
    _row(
        _named("b65", "Intel Arc Pro B65", "arc-pro-b65 arc-b65", "E222"),
        _stated(BMG_COMPARISON, xe_cores=20, clock_mhz=2400, bandwidth_bytes_per_s=608 * GB),
        BMG_G31,
    ),
    _row(_named("bmg-g31-other", "Intel BMG-G31, other", "", "E220 E221"), BMG_G31),
    _row(
        _named("lunar-lake", "Intel Lunar Lake (Arc 140V, 130V)", "lnl lnl-m arc-140v 140v", "6420 64A0 64B0"),
        _stated(LUNAR_LAKE_ARTICLE, xe_cores=8, l1_bytes=192 * KIB, l2_bytes=8 * MIB),
        LNL,
    ),
    _row(
        _named("panther-lake-12xe", "Intel Panther Lake-H, 12 Xe (Arc B390)", "ptl ptl-h arc-b390 b390", "B080 B082"),
        _stated(PANTHER_LAKE, xe_cores=12, l1_bytes=256 * KIB, l2_bytes=16 * MIB),
        PTL_H,
    ),
    _row(_named("panther-lake-b370", "Intel Panther Lake-H (Arc B370)", "arc-b370 b370", "B081 B083"), PTL_H),
    _row(_named("ptl-h-other", "Intel Panther Lake-H, other", "", "B084 B085 B086 B087 B08F B0A0 B0B0"), PTL_H),
    _row(
        _named("panther-lake-4xe", "Intel Panther Lake-U, 4 Xe", "ptl-u", "B090"),
        _stated(NEO, xe_cores=4, l2_bytes=4 * MIB),
        PTL_U,
    ),
    _row(_named("wildcat-lake", "Intel Wildcat Lake", "wcl", "FD80 FD81"), _stated(NEO, ip_version="30.3.1"), XE3),
    _row(
        _named("crescent-island", "Intel Crescent Island", "cri", "674C 674D 674E 674F 6750"),
        _stated(NEO, architecture="Xe3p", ip_version="35.11.0", threads_per_eu=10),
        _stated(NEO, max_slm_bytes=384 * KIB, max_workgroup_size=2048),
        DPAS_16,
        WIDE,
    ),
    _row(
        _named("a770", "Intel Arc A770", "arc-a770 dg2 dg2-g10 alchemist", "56A0"), _stated(NEO, xe_cores=32), DG2_G10
    ),
    _row(_named("a750", "Intel Arc A750", "arc-a750", "56A1"), DG2_G10),
    _row(_named("a580", "Intel Arc A580", "arc-a580", "56A2"), DG2_G10),
    _row(_named("flex170", "Intel Data Center GPU Flex 170", "flex-170 ats-m150", "56C0 56C2"), DG2_G10),
    _row(
        _named("dg2-g10-other", "Intel DG2-G10, other", "", "5690 5691 5692 56AF 56BE 56BF 4F80 4F81 4F82 4F83 4F84"),
        DG2_G10,
    ),
    _row(_named("flex140", "Intel Data Center GPU Flex 140, one GPU", "flex-140 ats-m75", "56C1"), DG2_G11),
    _row(_named("a380", "Intel Arc A380", "arc-a380 dg2-g11", "56A5"), DG2_G11),
    _row(_named("a310", "Intel Arc A310", "arc-a310", "56A6"), DG2_G11),
    _row(_named("dg2-g11-other", "Intel DG2-G11, other", "", "5693 5694 5695 56B0 56B1 56BA 56BB 56BC 56BD"), DG2_G11),
    _row(_named("dg2-g12", "Intel DG2-G12", "", "5696 5697 56A3 56A4 56B2 56B3"), DG2_G12),
    _row(
        _named("meteor-lake-h", "Intel Meteor Lake-H", "mtl mtl-h", "7D55 7DD5"),
        _stated(NEO, target="mtl-h", ip_version="12.71.4"),
        XE_LPG,
    ),
    _row(
        _named("meteor-lake-u", "Intel Meteor Lake-U, Arrow Lake-S and -U", "mtl-u arl-s arl-u", "7D40 7D45 7D67 7D41"),
        _stated(NEO, target="mtl-u", ip_version="12.70.4"),
        XE_LPG,
    ),
    _row(_named("arrow-lake-h", "Intel Arrow Lake-H", "arl arl-h", "7D51 7DD1"), XE_LPG_PLUS),
)

_BY_PCI_ID = {pci_id: row.spec for row in XE_DEVICES for pci_id in row.spec.pci_ids or ()}
_BY_NAME = {name: row.spec for row in XE_DEVICES for name in (row.spec.id, *row.aliases)}


def find_by_pci_id(pci_id: str) -> DeviceSpec | None:
    """The row of a PCI device id, four hexadecimal digits; None if no row has it."""
    return _BY_PCI_ID.get(pci_id.upper())


def find(name: str) -> DeviceSpec:
    """The row of an id, an alias or a PCI device id ("b580", "arc-b580", "E20B", "0xe20b", "8086:E20B").

    Raises:
        UnknownDevice: no row goes by that name.
    """
    wanted = name.strip().lower()
    found = _BY_NAME.get(wanted) or find_by_pci_id(wanted.removeprefix("8086:").removeprefix("0x"))
    if found is None:
        raise UnknownDevice(f"no Intel GPU is known as {name!r}; {suggestion(wanted, tuple(_BY_NAME))}")
    return found


def suggestion(wanted: str, names: tuple[str, ...]) -> str:
    """What to say after an unknown name: the nearest of `names`, and the ids there are."""
    nearest = get_close_matches(wanted.lower(), names, n=1, cutoff=0.5)
    hint = f"did you mean {nearest[0]!r}? " if nearest else ""
    return f"{hint}known ids: {', '.join(row.spec.id for row in XE_DEVICES)}"
