"""Xe3 and Xe3p: Panther Lake, Wildcat Lake, Nova Lake, Crescent Island."""

from hal.facts.xe.core_facts import (
    DPAS_16,
    WIDE,
)
from hal.facts.xe.row import (
    KIB,
    MIB,
    follows,
    named,
    row,
    stated,
)
from hal.facts.xe.sources import (
    DRIVER,
    NEO,
    OCLOC,
    ONEDNN,
    PANTHER_LAKE,
    PANTHER_LAKE_REVEAL,
    PANTHER_LAKE_XE3,
)

_THREADS = stated(NEO, threads_per_eu=10, threads_per_eu_large_grf=4)
_XE3 = (
    *follows(
        "as Xe2; 120 TOPS of int8 from 12 cores agree with it at 2.44 GHz",
        dpas_f16_fma_per_clk_per_eu=128,
        dpas_i8_mac_per_clk_per_eu=256,
    ),
    *follows(f"1536 lanes of the B390, {PANTHER_LAKE_XE3}, over 12 x 8", f32_fma_per_clk_per_eu=16),
    *stated(
        NEO,
        architecture="Xe3-LPG",
        grf_modes=(32, 64, 96, 128, 160, 192, 256),
        threads_per_eu_by_grf_mode=(10, 10, 10, 8, 6, 5, 4),
        max_slm_bytes=128 * KIB,
    ),
    # Its code allows 2048; it refuses to launch more than 1024.
    *stated(DRIVER, max_workgroup_size=1024),
    *stated(ONEDNN, slm_bytes_per_core=128 * KIB),
    *_THREADS,
    *DPAS_16,
    *WIDE,
)
_PTL_H = (
    *stated(NEO, target="ptl-h", ip_version="30.0.4"),
    *stated(OCLOC, fp64=True),
    *stated(DRIVER, bf16_conversions=True),
    *_XE3,
)
_PTL_U = (
    *stated(NEO, ip_version="30.1.0"),
    *follows("the U part has an IP version of its own, its cores are those of the H part", target="ptl-h"),
    *_XE3,
)
_XE3P = (*stated(NEO, max_workgroup_size=2048), *_THREADS, *DPAS_16, *WIDE)

_GRF_VARIES = "Registers of a thread come in seven modes; kernels are compiled for 128 (8 threads) and 256 (4)."
_NO_TARGET = "No compiler of ours knows it yet."

XE3_DEVICES = (
    row(
        named("panther-lake-12xe", "Intel Panther Lake-H, 12 Xe (Arc B390)", "ptl ptl-h arc-b390 b390", "B080 B082"),
        stated(PANTHER_LAKE, xe_cores=12, l1_bytes=256 * KIB, l2_bytes=16 * MIB),
        stated(PANTHER_LAKE_XE3, clock_mhz=2500),
        stated(PANTHER_LAKE_REVEAL, memory_side_cache_bytes=8 * MIB),
        follows(
            f"LPDDR5X-9600 (spdup.net, Panther Lake unveiled) on 128 bits ({PANTHER_LAKE_REVEAL})",
            bandwidth_bytes_per_s=153_600_000_000,
        ),
        _PTL_H,
        notes=(
            _GRF_VARIES,
            "Intel's 120 TOPS of int8 imply 2441 MHz, reviews give 2500; its DPAS rate is taken from Xe2.",
            "Bandwidth is that of the fastest memory it is sold with; LPDDR5X-7467 is the slowest for the name B390.",
        ),
    ),
    row(
        named("panther-lake-b370", "Intel Panther Lake-H (Arc B370)", "arc-b370 b370", "B081 B083"),
        _PTL_H,
        notes=(_GRF_VARIES,),
    ),
    row(
        named("ptl-h-other", "Intel Panther Lake-H, other", "", "B084 B085 B086 B087 B08F B0A0 B0B0"),
        _PTL_H,
        notes=(_GRF_VARIES,),
    ),
    row(
        named("panther-lake-4xe", "Intel Panther Lake-U, 4 Xe", "ptl-u", "B090"),
        stated(NEO, xe_cores=4, l2_bytes=4 * MIB),
        _PTL_U,
        notes=(_GRF_VARIES,),
    ),
    row(
        named("wildcat-lake", "Intel Wildcat Lake", "wcl", "FD80 FD81"),
        stated(NEO, ip_version="30.3.1"),
        _XE3,
        notes=(_GRF_VARIES, _NO_TARGET),
    ),
    row(
        named("nova-lake-s", "Intel Nova Lake-S", "nvl-s", ""),
        stated(NEO, ip_version="30.4.4"),
        _XE3,
        notes=(_GRF_VARIES, _NO_TARGET, "No PCI ids are public: it is found by its IP version."),
    ),
    row(
        named("nova-lake-p", "Intel Nova Lake-P", "nvl-p", ""),
        stated(NEO, architecture="Xe3p-LPG", ip_version="35.10.4", max_slm_bytes=192 * KIB),
        _XE3P,
        notes=(
            "Of Xe3p neither DPAS rates nor all GRF modes are public, so those of Xe3 are not taken for its own.",
            _NO_TARGET,
            "No PCI ids are public: it is found by its IP version.",
        ),
    ),
    row(
        named("crescent-island", "Intel Crescent Island", "cri", "674C 674D 674E 674F 6750"),
        stated(NEO, architecture="Xe3p", ip_version="35.11.0", max_slm_bytes=384 * KIB),
        _XE3P,
        notes=("GRF modes reach 512 registers, with 4 threads at 256: not all of them are public.", _NO_TARGET),
    ),
)
