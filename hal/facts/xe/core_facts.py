"""Facts shared by cores of several architectures: DPAS, 2-D block messages, wide and narrow registers."""

from hal.facts.xe.row import (
    KIB,
    stated,
)
from hal.facts.xe.sources import (
    BLOCK_2D,
    MATRIX,
    NEO,
)

# One DPAS multiplies up to 8 rows by 32 bytes of K by one element of N per lane; lanes are the smallest sub-group.
DPAS = stated(MATRIX, dpas_m=8, dpas_k_bytes=32)
DPAS_16 = (*DPAS, *stated(MATRIX, dpas_n=16))
DPAS_8 = (*DPAS, *stated(MATRIX, dpas_n=8))
NO_DPAS = stated(NEO, dpas_f16_fma_per_clk_per_eu=0, dpas_i8_mac_per_clk_per_eu=0, dpas_tf32_fma_per_clk_per_eu=0)

BLOCK2D = stated(
    BLOCK_2D,
    block2d=True,
    block2d_max_rows=32,
    block2d_max_width_bytes=64,
    block2d_pitch_multiple_bytes=16,
    block2d_min_width_bytes=64,
    block2d_base_alignment_bytes=64,
)
NO_BLOCK2D = stated(NEO, block2d=False)

NAMED_BARRIERS = stated(NEO, named_barriers_per_core=32)
TWO_GRF_MODES = stated(
    NEO, threads_per_eu=8, threads_per_eu_large_grf=4, grf_modes=(128, 256), threads_per_eu_by_grf_mode=(8, 4)
)
WIDE = (  # 64-byte registers, eight engines per core
    *stated(NEO, eus_per_core=8, grf_bytes=64, subgroup_sizes=(16, 32)),
    *NAMED_BARRIERS,
    *BLOCK2D,
)
NARROW = (  # 32-byte registers, sixteen engines per core
    *stated(NEO, eus_per_core=16, grf_bytes=32, subgroup_sizes=(8, 16, 32)),
    *stated(NEO, max_slm_bytes=64 * KIB, max_workgroup_size=1024),
    *TWO_GRF_MODES,
    *NAMED_BARRIERS,
    *NO_BLOCK2D,
)
