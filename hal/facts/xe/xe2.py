"""Xe2: Battlemage cards and Lunar Lake."""

from hal.facts.xe.core_facts import (
    DPAS_16,
    TWO_GRF_MODES,
    WIDE,
)
from hal.facts.xe.row import (
    GB,
    GIB,
    KIB,
    MIB,
    follows,
    named,
    row,
    stated,
)
from hal.facts.xe.sources import (
    AICONFIGURATOR,
    AICONFIGURATOR_TIMES,
    B50_COMPARISON,
    B70_NOTES,
    B570_COMPARISON,
    BATTLEMAGE_ARTICLE,
    BMG_REFERENCE,
    DRIVER,
    IMEX,
    LIGHTHOUSE,
    LUNAR_LAKE_ARTICLE,
    LUNAR_LAKE_XE2,
    NEO,
    OCLOC,
    ONEDNN,
    TORCH_B580,
    TRITON,
)

_XE2 = (
    *follows("116.74 Tflop/s of the B580 over 20 x 8 x 2 at 2.85 GHz", dpas_f16_fma_per_clk_per_eu=128),
    *follows("233 TOPS of the B580 over 20 x 8 x 2 at 2.85 GHz", dpas_i8_mac_per_clk_per_eu=256),
    *stated(LUNAR_LAKE_XE2, f32_fma_per_clk_per_eu=16),
    *stated(NEO, max_slm_bytes=128 * KIB),
    *stated(OCLOC, fp64=True),
    *stated(DRIVER, bf16_conversions=True),
    # The driver's code allows 2048; a B580 reported 1024 to PyTorch.
    *stated(TORCH_B580, max_workgroup_size=1024),
    *stated(ONEDNN, slm_bytes_per_core=128 * KIB),
    *DPAS_16,
    *TWO_GRF_MODES,
    *WIDE,
)
_BMG = (*stated(NEO, target="bmg", architecture="Xe2-HPG"), *stated(BATTLEMAGE_ARTICLE, l1_bytes=256 * KIB), *_XE2)
_G21 = (*stated(NEO, ip_version="20.1.0"), *_BMG)
_G31 = (*stated(NEO, ip_version="20.2.0"), *_BMG)
_LNL = (*stated(NEO, target="lnl-m", architecture="Xe2-LPG", ip_version="20.4.4"), *_XE2)

_WORK_GROUP = "The driver's code allows work-groups of 2048, a B580 told PyTorch 1024: the smaller counts."

XE2_DEVICES = (
    row(
        named("b580", "Intel Arc B580", "arc-b580 bmg bmg-g21 battlemage", "E20B E209"),
        stated(TRITON, xe_cores=20, clock_mhz=2850, bandwidth_bytes_per_s=456 * GB, memory_bytes=12 * GIB),
        stated(BMG_REFERENCE, nominal_clock_mhz=2670),
        stated(IMEX, l2_bytes=18 * MIB),
        _G21,
        notes=(
            "116.74 Tflop/s of f16 are at the highest clock, 2850 MHz; at the nominal 2670 MHz they are 109.4.",
            _WORK_GROUP,
        ),
    ),
    row(
        named("b570", "Intel Arc B570", "arc-b570", "E20C"),
        follows("103.22 Tflop/s of f16, Triton's gpu_info.json, over 18 x 8 x 128 x 2", clock_mhz=2800),
        stated(TRITON, xe_cores=18, nominal_clock_mhz=2500, bandwidth_bytes_per_s=380 * GB, memory_bytes=10 * GIB),
        stated(B570_COMPARISON, l2_bytes=18 * MIB),
        _G21,
        notes=("Its f16 peak is at 2800 MHz, its int8 peak (203 TOPS) at 2753: the clocks differ by 2%.", _WORK_GROUP),
    ),
    row(
        named("b60", "Intel Arc Pro B60", "arc-pro-b60 arc-b60", "E211"),
        stated(AICONFIGURATOR, xe_cores=20, clock_mhz=2400, bandwidth_bytes_per_s=456 * GB, memory_bytes=24 * GIB),
        stated(f"{AICONFIGURATOR_TIMES}, GEMV 1x12288x4096 of bf16", measured_bandwidth_bytes_per_s=337 * GB),
        follows("the die of the B580, with all of its cores", l2_bytes=18 * MIB),
        _G21,
        notes=("GEMMs reached 98.3 Tflop/s, the peak at 2400 MHz: the clock holds.", _WORK_GROUP),
    ),
    row(
        named("b50", "Intel Arc Pro B50", "arc-pro-b50 arc-b50", "E212"),
        stated(LIGHTHOUSE, xe_cores=16, bandwidth_bytes_per_s=224 * GB),
        stated(B50_COMPARISON, clock_mhz=2600, nominal_clock_mhz=1700, memory_bytes=16 * GIB),
        _G21,
        notes=(
            "lighthouse's 78 Tflop/s of f16 imply 2380 MHz; at the highest clock, 2600 MHz, the peak is 85.2.",
            f"{B50_COMPARISON} gives 4 MiB of L2, the B580 of the same die has 18: taken for unknown.",
            _WORK_GROUP,
        ),
    ),
    row(named("bmg-g21-other", "Intel BMG-G21, other", "", "E202 E20D E210 E215 E216"), _G21),
    row(
        named("b70", "Intel Arc Pro B70", "arc-pro-b70 arc-b70 bmg-g31", "E223"),
        stated(LIGHTHOUSE, xe_cores=32),
        stated(BMG_REFERENCE, clock_mhz=2800, nominal_clock_mhz=2280, memory_bytes=32 * GIB),
        stated(f"Intel's specification in {BMG_REFERENCE}", bandwidth_bytes_per_s=608 * GB),
        stated(f"{B70_NOTES}, size that its driver reports", l2_bytes=24_576 * KIB),
        stated(B70_NOTES, measured_bandwidth_bytes_per_s=590 * GB),
        _G31,
        notes=(
            "367 TOPS of int8 agree with 2800 MHz, lighthouse's 155 Tflop/s of f16 imply 2365, and 2280 is nominal: "
            "times are uncertain by a fifth.",
            _WORK_GROUP,
        ),
    ),
    row(
        named("b65", "Intel Arc Pro B65", "arc-pro-b65 arc-b65", "E222"),
        stated(BMG_REFERENCE, xe_cores=20, clock_mhz=2400, bandwidth_bytes_per_s=608 * GB),
        _G31,
        notes=(_WORK_GROUP,),
    ),
    row(named("bmg-g31-other", "Intel BMG-G31, other", "", "E220 E221"), _G31),
    row(
        named("lunar-lake", "Intel Lunar Lake (Arc 140V, 130V)", "lnl lnl-m arc-140v 140v", "6420 64A0 64B0"),
        stated(LUNAR_LAKE_ARTICLE, xe_cores=8, l1_bytes=192 * KIB, l2_bytes=8 * MIB, memory_side_cache_bytes=8 * MIB),
        follows(f"67 TOPS of int8, {LUNAR_LAKE_XE2}, over 8 x 8 x 256 x 2", clock_mhz=2050),
        follows(
            "LPDDR5X-8533 (notebookcheck.net, Core Ultra 7 256V) on two channels, taken as 64 bits each",
            bandwidth_bytes_per_s=136_528_000_000,
        ),
        _LNL,
        notes=(
            "The Arc 140V has 8 cores at 1950 to 2050 MHz, the 130V has 7 at 1850: the facts are the 140V's.",
            "The CPU shares its memory and its memory-side cache.",
        ),
    ),
)
