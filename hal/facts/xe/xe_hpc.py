"""Xe-HPC: Ponte Vecchio. Two-stack Max cards are listed by the stack: it is what one kernel runs on."""

from hal.facts.xe.core_facts import (
    DPAS_16,
    NO_DPAS,
    TWO_GRF_MODES,
    WIDE,
)
from hal.facts.xe.row import (
    GIB,
    KIB,
    MIB,
    follows,
    named,
    row,
    stated,
)
from hal.facts.xe.sources import (
    AURORA,
    DRIVER,
    HOTCHIPS_PVC,
    MAX_1350,
    NEO,
    OCLOC,
    ONEDNN,
    PVC_ARTICLE,
    PVC_NOTES,
    TRITON,
)

_WITHOUT_DPAS = (
    *stated(NEO, architecture="Xe-HPC", max_slm_bytes=128 * KIB, max_workgroup_size=1024),
    *stated(ONEDNN, slm_bytes_per_core=128 * KIB, f32_fma_per_clk_per_eu=16),
    *stated(HOTCHIPS_PVC, l1_bytes=512 * KIB),
    *follows("105 TB/s of the Max 1550's 128 cores at 1.6 GHz, Hot Chips 34", l1_bytes_per_clk_per_core=512),
    *follows("13 TB/s of the Max 1550's 128 cores at 1.6 GHz, Hot Chips 34", l2_bytes_per_clk_per_core=64),
    *TWO_GRF_MODES,
    *WIDE,
)
_XE_HPC = (
    *stated(NEO, target="pvc", ip_version="12.60.7"),
    *stated(OCLOC, fp64=True),
    *stated(DRIVER, bf16_conversions=True),
    *stated(
        ONEDNN,
        dpas_f16_fma_per_clk_per_eu=256,
        dpas_i8_mac_per_clk_per_eu=512,
        dpas_tf32_fma_per_clk_per_eu=128,
        sustained_f16_fma_per_clk_per_eu=248.7,  # best of its fits
        sustained_i8_mac_per_clk_per_eu=501.0,
        sustained_tf32_fma_per_clk_per_eu=125.9,
    ),
    *DPAS_16,
    *_WITHOUT_DPAS,
)
_STACK = (
    *stated(HOTCHIPS_PVC, l2_bytes=204 * MIB),
    *follows("half of the card's 3276.8 GB/s, Triton's gpu_info.json", bandwidth_bytes_per_s=1_638_400_000_000),
    *follows(f"half of the card's 128 GiB, {PVC_NOTES}", memory_bytes=64 * GIB),
    *stated(f"{AURORA}, triad on one stack", measured_bandwidth_bytes_per_s=1_000_000_000_000),
    *_XE_HPC,
)
_BY_STACK = "A card has two stacks; these are the numbers of one, which a kernel runs on."
_CLOCK_SINKS = "Long runs of DPAS clock lower: oneDNN's fits take 1.5 to 1.7 times the nominal clocks."

XE_HPC_DEVICES = (
    row(
        named("max1550", "Intel Data Center GPU Max 1550, one stack", "max-1550 max1550-stack pvc", "0BD5 0BD6"),
        stated(AURORA, clock_mhz=1600),
        stated(TRITON, xe_cores=64),
        _STACK,
        notes=(
            _BY_STACK,
            "Triton's table pairs the Tflop/s of one stack (419.43) with the bandwidth of both (3276.8 GB/s).",
            _CLOCK_SINKS,
        ),
    ),
    row(
        named("max1550-aurora", "Intel Data Center GPU Max 1550 of Aurora, one stack", "aurora", ""),
        stated(AURORA, xe_cores=56, clock_mhz=1500),
        _STACK,
        notes=(_BY_STACK, "56 of the 64 cores are active; PCI ids are those of max1550, which a probe finds."),
    ),
    row(
        named("max1100", "Intel Data Center GPU Max 1100", "max-1100", "0BD9 0BDA 0BDB 0B6E"),
        stated(TRITON, xe_cores=56, clock_mhz=1550, bandwidth_bytes_per_s=1_228_800_000_000, memory_bytes=48 * GIB),
        stated(PVC_ARTICLE, l2_bytes=108 * MIB),
        _XE_HPC,
        notes=("One stack. 355.53 Tflop/s of f16 = 56 cores x 4096 flop x 1.55 GHz.", _CLOCK_SINKS),
    ),
    row(
        named("max1350", "Intel Data Center GPU Max 1350, one stack", "max-1350", "0BD7 0BD8"),
        follows(f"half of the card's 112 cores, {MAX_1350}", xe_cores=56),
        follows(f"half of the card's 96 GiB, {MAX_1350}", memory_bytes=48 * GIB),
        follows(f"half of the card's 2.5 TB/s, {MAX_1350}", bandwidth_bytes_per_s=1_250_000_000_000),
        _XE_HPC,
        notes=(_BY_STACK, "Announced, then withdrawn before it was sold."),
    ),
    row(
        named("max1450", "Intel Data Center GPU Max 1450, one stack", "max-1450", "0B69"),
        _XE_HPC,
        notes=(_BY_STACK,),
    ),
    row(
        named("max1550vg", "Intel Data Center GPU Max 1550VG, one stack", "max-1550vg pvc-vg", "0BD4"),
        stated(NEO, target="pvc-vg", ip_version="12.61.7"),
        NO_DPAS,
        _WITHOUT_DPAS,
        notes=(_BY_STACK, "Of the Xe-HPC GPUs this alone has no DPAS."),
    ),
)
