"""When a job has found enough: it no longer gains, or it is near what the device can do."""

from codegen import GemmProblem
from codegen.xe.rules import check_problem
from hal import DeviceKind, DeviceSpec
from tuner.errors import NoRoofline
from tuner.model.core_clocks import gpu_rates
from tuner.session.history import History
from tuner.session.trial import Trial

LEAST_GAIN = 1.01
"""A best time that is not shorter by this factor is no gain: medians of one configuration differ as much."""


def gains_no_more(history: History, trials: int) -> bool:
    """Whether the last so many trials, of those that this job made, have not gained: one with a time came before them.

    One that took the time of an earlier job could not gain: it is taken where it cannot win.
    """
    ended = [trial for trial, _ in history.ended() if trial.source is None]
    before = _best_us(ended[:-trials])
    now = _best_us(ended)
    return before is not None and now is not None and now * LEAST_GAIN > before


def roof_us(problem: GemmProblem, spec: DeviceSpec) -> float:
    """The least time that a GPU can take, in us: of its multiply units, or to move every operand once.

    Raises:
        Refused: the problem or the device is refused.
        NoRoofline: the device is no GPU, or lacks a fact.
    """
    needed = (
        "xe_cores",
        "eus_per_core",
        "grf_bytes",
        "dpas_f16_fma_per_clk_per_eu",
        "clock_mhz",
        "bandwidth_bytes_per_s",
    )
    is_cpu = spec.kind is DeviceKind.CPU
    missing = () if is_cpu else tuple(name for name in needed if getattr(spec, name) is None)
    clock_mhz, bandwidth = spec.clock_mhz, spec.bandwidth_bytes_per_s
    if is_cpu or missing or clock_mhz is None or bandwidth is None:
        raise NoRoofline(spec.name, *missing)
    rates = gpu_rates(check_problem(problem, spec))
    multiplies = problem.m * problem.n * problem.k * problem.batch
    multiply_us = multiplies / (rates.cores * rates.engines * rates.fma_per_engine * clock_mhz)
    nbytes = sum(operand.nbytes(problem.batch) for operand in problem.operands)
    return max(multiply_us, nbytes / bandwidth * 1e6)


def _best_us(trials: list[Trial]) -> float | None:
    times = [time_us for trial in trials if (time_us := trial.time_us) is not None]
    return min(times) if times else None
