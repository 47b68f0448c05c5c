"""Xe-HPG and Xe-LPG: Alchemist cards, Meteor Lake, Arrow Lake: sub-groups of 8, no 2-D block messages."""

from hal.facts.xe.core_facts import (
    DPAS_8,
    NARROW,
    NO_DPAS,
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
    ARC_7,
    ARC_8_CORES,
    ARC_140T,
    ARC_155H,
    ARC_A310,
    ARC_A380,
    ARC_A770M,
    CLPEAK_A770,
    DRIVER,
    FLEX,
    NEO,
    OCLOC,
    ONEDNN,
)

_DPAS_RATE = stated(
    ONEDNN,
    dpas_f16_fma_per_clk_per_eu=64,
    dpas_i8_mac_per_clk_per_eu=128,
    dpas_tf32_fma_per_clk_per_eu=0,
    sustained_i8_mac_per_clk_per_eu=115.0,  # best of its fits
    f32_fma_per_clk_per_eu=8,
)
_XE_HPG = (
    *stated(NEO, target="dg2", architecture="Xe-HPG"),
    *stated(OCLOC, fp64=False),
    *stated(DRIVER, bf16_conversions=True),
    *stated(ONEDNN, slm_bytes_per_core=128 * KIB),
    *_DPAS_RATE,
    *DPAS_8,
    *NARROW,
)
_G10 = (*stated(NEO, ip_version="12.55.8"), *_XE_HPG)
_G11 = (*stated(NEO, ip_version="12.56.5"), *_XE_HPG)
_G12 = (*stated(NEO, ip_version="12.57.0"), *_XE_HPG)
_ENGINES = (*stated(ONEDNN, slm_bytes_per_core=128 * KIB), *NARROW)
_XE_LPG = (
    *stated(NEO, architecture="Xe-LPG"),
    *stated(OCLOC, fp64=True),
    *stated(DRIVER, bf16_conversions=False),
    *follows("1024 lanes of its 8 cores, as Xe-HPG", f32_fma_per_clk_per_eu=8),
    *follows(f"1.3 MB of 7 cores, {ARC_8_CORES}", l1_bytes=192 * KIB),
    *follows(f"half of the 8 MiB of Arrow Lake-H, {ARC_140T}", l2_bytes=4 * MIB),
    *follows("LPDDR5x-7467 on two channels, taken as 64 bits each", bandwidth_bytes_per_s=119_472_000_000),
    *NO_DPAS,
    *_ENGINES,
)
_XE_LPG_PLUS = (
    *stated(NEO, target="arl-h", architecture="Xe-LPG+", ip_version="12.74.4"),
    *stated(ARC_140T, xe_cores=8, l2_bytes=8 * MIB),
    *stated(OCLOC, fp64=True),
    *stated(DRIVER, bf16_conversions=True),
    *follows(f"77 TOPS of int8, {ARC_140T}, over 8 x 16 x 128 x 2", clock_mhz=2350),
    *follows("LPDDR5x-8400 on two channels, taken as 64 bits each", bandwidth_bytes_per_s=134_400_000_000),
    *_DPAS_RATE,
    *DPAS_8,
    *_ENGINES,
)

_NARROW = "DPAS of 8 lanes, registers of 32 bytes, no 2-D block messages; engines are fused in pairs."
_SUSTAINED = "oneDNN's fits of f16 DPAS reach 58 to 62 of 64 multiply-adds a clock."
_LPG_PLUS = "Of Meteor and Arrow Lake this alone has DPAS: of 8 lanes, without 2-D block messages."
_ONE_OF_TWO = "The card has two GPUs; these are the facts of one."

XE_HPG_DEVICES = (
    row(
        named("a770", "Intel Arc A770", "arc-a770 dg2 dg2-g10 alchemist", "56A0"),
        stated(ARC_7, xe_cores=32, nominal_clock_mhz=2100, bandwidth_bytes_per_s=560 * GB),
        stated(CLPEAK_A770, clock_mhz=2400, measured_bandwidth_bytes_per_s=421 * GB),
        follows(f"the die of the A770M, {ARC_A770M}", l2_bytes=16 * MIB),
        _G10,
        notes=(
            _NARROW,
            _SUSTAINED,
            "Cards of 16 and of 8 GiB share a PCI id, so memory is unknown; some sources give the smaller 512 GB/s.",
        ),
    ),
    row(
        named("a750", "Intel Arc A750", "arc-a750", "56A1"),
        stated(ARC_7, xe_cores=28, nominal_clock_mhz=2050, bandwidth_bytes_per_s=512 * GB, memory_bytes=8 * GIB),
        _G10,
        notes=(_NARROW,),
    ),
    row(
        named("a580", "Intel Arc A580", "arc-a580", "56A2"),
        stated(ARC_7, xe_cores=24, nominal_clock_mhz=1700, bandwidth_bytes_per_s=512 * GB, memory_bytes=8 * GIB),
        _G10,
        notes=(_NARROW,),
    ),
    row(
        named("flex170", "Intel Data Center GPU Flex 170", "flex-170 ats-m150", "56C0 56C2"),
        stated(FLEX, xe_cores=32, memory_bytes=16 * GIB),
        _G10,
        notes=(_NARROW,),
    ),
    row(
        named("dg2-g10-other", "Intel DG2-G10, other", "", "5690 5691 5692 56AF 56BE 56BF 4F80 4F81 4F82 4F83 4F84"),
        _G10,
        notes=(_NARROW,),
    ),
    row(
        named("flex140", "Intel Data Center GPU Flex 140, one GPU", "flex-140 ats-m75", "56C1"),
        follows(f"half of the card's 12 GiB, {FLEX}", memory_bytes=6 * GIB),
        _G11,
        notes=(_ONE_OF_TWO, _NARROW),
    ),
    row(
        named("a380", "Intel Arc A380", "arc-a380 dg2-g11", "56A5"),
        stated(ARC_A380, xe_cores=8, nominal_clock_mhz=2000, bandwidth_bytes_per_s=186 * GB, memory_bytes=6 * GIB),
        _G11,
        notes=(_NARROW,),
    ),
    row(
        named("a310", "Intel Arc A310", "arc-a310", "56A6"),
        follows(f"96 engines, {ARC_A310}, 16 a core", xe_cores=6),
        stated(
            ARC_A310,
            nominal_clock_mhz=1750,
            l2_bytes=4 * MIB,
            bandwidth_bytes_per_s=124 * GB,
            memory_bytes=4 * GIB,
        ),
        _G11,
        notes=(_NARROW,),
    ),
    row(
        named("dg2-g11-other", "Intel DG2-G11, other", "", "5693 5694 5695 56B0 56B1 56BA 56BB 56BC 56BD"),
        _G11,
        notes=(_NARROW,),
    ),
    row(named("dg2-g12", "Intel DG2-G12", "", "5696 5697 56A3 56A4 56B2 56B3"), _G12, notes=(_NARROW,)),
    row(
        named("meteor-lake-h", "Intel Meteor Lake-H", "mtl mtl-h", "7D55 7DD5"),
        stated(NEO, target="mtl-h", ip_version="12.71.4"),
        stated(ARC_8_CORES, xe_cores=8),
        stated(ARC_155H, clock_mhz=2250),
        _XE_LPG,
        notes=("No DPAS: lanes multiply and add. Of Meteor and Arrow Lake only Arrow Lake-H has it.",),
    ),
    row(
        named("meteor-lake-u", "Intel Meteor Lake-U, Arrow Lake-S and -U", "mtl-u arl-s arl-u", "7D40 7D45 7D67 7D41"),
        stated(NEO, target="mtl-u", ip_version="12.70.4"),
        stated(ARC_8_CORES, xe_cores=4, clock_mhz=2000),
        _XE_LPG,
        notes=("No DPAS: lanes multiply and add. Of Meteor and Arrow Lake only Arrow Lake-H has it.",),
    ),
    row(named("arrow-lake-h", "Intel Arrow Lake-H", "arl arl-h", "7D51 7DD1"), _XE_LPG_PLUS, notes=(_LPG_PLUS,)),
)
