"""Bound of the rate of products on x86 CPUs."""

from codegen import GemmProblem
from hal import DeviceSpec

# Multiply-adds of a core in a clock. AMX: 16 x 16 products of 64 bytes in 16 clocks; AVX-512: two of 16 floats, doubled
# for what future cores may do. Source: Intel, Intrinsics Guide (_tile_dpbusd, _mm512_fmadd_ps).
_BY_BYTES = {1: 1024, 2: 512, 4: 64}
_MHZ = 7_000  # above the highest turbo clock of any x86 CPU


def least_us(problem: GemmProblem, spec: DeviceSpec) -> float:
    """Return a time in us that no kernel on the cores of this CPU can beat; 0 if their number is unknown."""
    if spec.cores is None:
        return 0.0
    each = _BY_BYTES[max(1, problem.dtype_a.bits // 8)]
    return problem.multiply_adds / (spec.cores * each * _MHZ)
