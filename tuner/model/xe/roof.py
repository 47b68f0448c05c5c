"""Lower bound of the time of a GEMM on an Intel GPU."""

from codegen import GemmProblem
from codegen.xe.rules import check_problem
from hal import DeviceSpec
from tuner.errors import NoRoofline
from tuner.model.core_clocks import gpu_rates

_NEEDED = (
    "xe_cores",
    "eus_per_core",
    "grf_bytes",
    "dpas_f16_fma_per_clk_per_eu",
    "clock_mhz",
    "bandwidth_bytes_per_s",
)


def roof_us(problem: GemmProblem, spec: DeviceSpec) -> float:
    """Return the lower bound in us: by the multiply units, or by moving every operand once.

    Raises:
        Refused: the problem or the device is refused.
        NoRoofline: a CPU emulates the GPU, or a fact is unknown.
    """
    missing = [] if spec.emulates is not None else [name for name in _NEEDED if getattr(spec, name) is None]
    clock_mhz, bandwidth = spec.clock_mhz, spec.bandwidth_bytes_per_s
    if spec.emulates is not None or missing or clock_mhz is None or bandwidth is None:
        raise NoRoofline(spec.name, *missing)
    rates = gpu_rates(check_problem(problem, spec))
    multiply_us = problem.multiply_adds / (rates.cores * rates.engines * rates.fma_per_engine * clock_mhz)
    nbytes = sum(problem.accessed_bytes(operand) for operand in problem.operands)
    return max(multiply_us, nbytes / bandwidth * 1e6)
