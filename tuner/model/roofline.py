"""A roofline of an Xe GPU: the slowest of DPAS, caches and memory, and a cost for starting the kernel.

It ranks what these limits tell apart and no more: spills, messages, latency and raster order are not in it, so
its interval is wide.
"""

from codegen import GemmProblem, KernelConfig
from codegen.rules import ceil_div
from hal import DeviceSpec
from tuner.model.core_clocks import core_clocks, gpu_rates, known
from tuner.trial import Prediction

MODEL_VERSION = "roofline-1"
INTERVAL = 3.0
"""The interval is the time divided and multiplied by this: a statement of ignorance, not a fit."""

_LAUNCH_US = 5.0  # assumed
# 65 Tflop/s without and 89 with prefetch, 4096^3 on a B580. Source: mlir-extensions' GEMM example.
_WITHOUT_PREFETCH = 89 / 65


def predict(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Prediction:
    """The time of a configuration on an Xe GPU.

    Raises:
        CannotPredict: a fact of the device is not known.
    """
    clocks = core_clocks(problem, config, gpu_rates(spec))
    depth = ceil_div(problem.k, config.matmul.block.k) * config.matmul.block.k
    stall = 1.0 if config.strategy.prefetch.distance else _WITHOUT_PREFETCH
    core_us = max(clocks.dpas, clocks.l1, clocks.l2) * depth / known(spec, "clock_mhz")
    memory_us = memory_bytes(problem, config, spec) / known(spec, "bandwidth_bytes_per_s") * 1e6
    time_us = max(core_us, memory_us) * stall + _LAUNCH_US
    return Prediction(time_us, time_us / INTERVAL, time_us * INTERVAL, MODEL_VERSION)


def memory_bytes(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> float:
    """Bytes that cross the memory bus: each matrix once, and inputs that do not stay in half of L2 once a wave.

    Raises:
        CannotPredict: a fact of the device is not known.
    """
    p, block, threads = problem, config.matmul.block, config.matmul.threads
    a, b = p.m * p.k * p.dtype_a.nbytes, p.k * p.n * p.dtype_b.nbytes
    c = p.m * p.n * p.dtype_c.nbytes
    if a + b <= known(spec, "l2_bytes") / 2:
        return a + b + c
    tiles = threads.m * threads.n
    running = min(known(spec, "xe_cores"), tiles)
    along = min(running, threads.n)
    of_a = ceil_div(running, along) * block.m * p.k * p.dtype_a.nbytes
    of_b = along * block.n * p.k * p.dtype_b.nbytes
    return max(a + b, ceil_div(tiles, running) * (of_a + of_b)) + c
