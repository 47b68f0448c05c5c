"""Roofline of an Xe GPU: the slowest of DPAS, caches and memory, and a cost for launching the kernels.

Baseline for judging the model of Xe GPUs; it ignores spills, messages and latency.
"""

from codegen import EpilogueKind, GemmProblem, SlmOperands, SplitK, XeConfig
from codegen.xe.prepare import prepared_operands
from codegen.xe.rules import (
    check_problem,
    steps_of,
)
from hal import DeviceSpec
from tuner.model.core_clocks import core_clocks, gpu_rates, known
from tuner.model.traffic import memory_bytes
from tuner.session.trial import Prediction

MODEL_VERSION = "roofline-2"
INTERVAL = 3.0
"""The interval is the time divided and multiplied by this factor, which is a guess, not fitted."""

_LAUNCH_US, _NEXT_KERNEL_US = 5.0, 2.0  # assumed
# 65 Tflop/s without and 89 with prefetch, 4096^3 on a B580. Source: mlir-extensions' GEMM example.
_WITHOUT_PREFETCH = 89 / 65


def predict(problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> Prediction:
    """Return the predicted time of a configuration on an Xe GPU.

    Raises:
        Refused: the problem or the device is refused.
        CannotPredict: a fact of the device is unknown.
    """
    clocks = core_clocks(problem, config, gpu_rates(check_problem(problem, spec)))
    depth = steps_of(problem, config) * config.k_step
    stall = 1.0 if _loads_ahead(config) else _WITHOUT_PREFETCH
    core_us = max(clocks.dpas, clocks.l1, clocks.l2) * depth / known(spec, "clock_mhz")
    memory_us = memory_bytes(problem, config, spec) / known(spec, "bandwidth_bytes_per_s") * 1e6
    started_us = _LAUNCH_US + (_kernels(problem, config) - 1) * _NEXT_KERNEL_US
    time_us = max(core_us, memory_us) * stall + started_us
    return Prediction(time_us, time_us / INTERVAL, time_us * INTERVAL, MODEL_VERSION)


def _loads_ahead(config: XeConfig) -> bool:
    s = config.strategy
    return bool(s.prefetch.distance) or s.pipelined_registers or s.slm is not SlmOperands.NONE


def _kernels(problem: GemmProblem, config: XeConfig) -> int:
    """Return the number of kernels of a launch: those that prepare operands, the multiply, clearing or adding splits of
    K, and the sums of each reduction.
    """
    reductions = sum(step.kind is EpilogueKind.REDUCE for step in problem.epilogue)
    return (
        1
        + len(prepared_operands(problem, config.strategy.workspace))
        + (config.strategy.split_k is not SplitK.NONE)
        + reductions
    )
