"""Lower bounds of the time of a GEMM on an Intel GPU."""

from codegen import GemmProblem, Refused
from codegen.xe.rules import check_problem
from hal import DeviceSpec
from tuner.errors import NoRoofline
from tuner.model import cpu_peak
from tuner.model.core_clocks import gpu_rates

_NEEDED = (
    "xe_cores",
    "eus_per_core",
    "grf_bytes",
    "dpas_f16_fma_per_clk_per_eu",
    "clock_mhz",
    "bandwidth_bytes_per_s",
)


_ABOVE = 1.5  # no card has clocks so far above the table's, of its cores or of its memory


def least_us(problem: GemmProblem, spec: DeviceSpec) -> float:
    """Return a time in us that no kernel can beat; 0 if none is known.

    The multiply units bound it, and the bytes of all operands: those that fit into the last cache may be there before
    the launch, the others come from memory, and all pass the first caches.
    """
    if spec.emulates is not None:
        return cpu_peak.least_us(problem, spec)
    try:
        return max(_multiply_us(problem, spec), _least_memory_us(problem, spec)) / _ABOVE
    except (NoRoofline, Refused):
        return 0.0


def _least_memory_us(problem: GemmProblem, spec: DeviceSpec) -> float:
    nbytes = sum(problem.accessed_bytes(operand) for operand in problem.operands)
    rates, bandwidth, clock_mhz = gpu_rates(check_problem(problem, spec)), spec.bandwidth_bytes_per_s, spec.clock_mhz
    assert bandwidth is not None  # checked by _multiply_us
    assert clock_mhz is not None
    through_l1 = nbytes / (rates.cores * rates.l1_bytes * clock_mhz)
    if spec.l2_bytes is None:
        return through_l1
    cached = spec.l2_bytes + (spec.memory_side_cache_bytes or 0)
    return max(through_l1, (nbytes - cached) / bandwidth * 1e6)


def xe_roof_us(problem: GemmProblem, spec: DeviceSpec) -> float:
    """Return the lower bound in us: by the multiply units, or by moving every operand once.

    Raises:
        Refused: the problem or the device is refused.
        NoRoofline: a CPU emulates the GPU, or a fact is unknown.
    """
    multiply_us = _multiply_us(problem, spec)
    if (bandwidth := spec.bandwidth_bytes_per_s) is None:
        raise NoRoofline(spec.name, "bandwidth_bytes_per_s")
    nbytes = sum(problem.accessed_bytes(operand) for operand in problem.operands)
    return max(multiply_us, nbytes / bandwidth * 1e6)


def _multiply_us(problem: GemmProblem, spec: DeviceSpec) -> float:
    missing = [] if spec.emulates is not None else [name for name in _NEEDED if getattr(spec, name) is None]
    if spec.emulates is not None or missing or (clock_mhz := spec.clock_mhz) is None:
        raise NoRoofline(spec.name, *missing)
    rates = gpu_rates(check_problem(problem, spec))
    return problem.multiply_adds / (rates.cores * rates.engines * rates.fma_per_engine * clock_mhz)
