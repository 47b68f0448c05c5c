"""Bound of the time of a GEMM on x86 CPUs: by their multiply units, and by the loads of a core."""

from codegen import GemmProblem
from hal import DeviceSpec

# Multiply-adds of a core in a clock: two vector units, or AMX's 16 x 16 products of 64 bytes in 16 clocks.
# Source: Intel, Intrinsics Guide (_mm512_fmadd_ps, _mm512_dpbusd_epi32, _tile_dpbusd).
_VECTOR_UNITS = 2
_WIDE, _NARROW = 64, 32  # bytes of a vector, with AVX-512 and without
# By bytes of an element; an f32 or tf32 takes at least four products of bf16.
_TILES = {1: ("amx_int8", 1024), 2: ("amx_bf16", 512), 4: ("amx_bf16", 128)}
# Bytes that a core loads in a clock: two vectors from its first cache, a line from the next one.
# Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, cache parameters of Golden Cove.
_LOADED, _FILLED = 2 * _WIDE, 64
_HIGHEST_MHZ = 6_500  # above the turbo clock of any x86 CPU
_ABOVE = 1.5  # some drivers state the highest clock without turbo


def least_us(problem: GemmProblem, spec: DeviceSpec) -> float:
    """Return a time in us that no kernel on the cores of this CPU can beat; 0 if their number is unknown."""
    if spec.cores is None:
        return 0.0
    mhz = _HIGHEST_MHZ if spec.clock_mhz is None else min(_ABOVE * spec.clock_mhz, _HIGHEST_MHZ)
    nbytes = sum(problem.accessed_bytes(operand) for operand in problem.operands)
    clocks = max(
        problem.multiply_adds / _multiply_adds(problem, spec),
        nbytes / _LOADED,
        0 if spec.l1_bytes is None else (nbytes - spec.cores * spec.l1_bytes) / _FILLED,
    )
    return clocks / (spec.cores * mhz)


def _multiply_adds(problem: GemmProblem, spec: DeviceSpec) -> int:
    """Return the multiply-adds of a core in a clock; unknown instruction sets count as all of them."""
    nbytes = max(1, problem.dtype_a.bits // 8)
    width = _WIDE if spec.isa is None or "avx512f" in spec.isa else _NARROW
    vectors = _VECTOR_UNITS * width // nbytes
    flag, tiles = _TILES.get(nbytes, ("", 0))
    has_tiles = spec.amx_permitted is not False and (spec.isa is None or flag in spec.isa)
    return max(vectors, tiles) if has_tiles else vectors
