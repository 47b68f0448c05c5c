"""Measurement of a CPU's rates: its multiply instructions, and reading memory, on all cores at once."""

from dataclasses import replace

import numpy as np

from codegen import DType, GemmProblem, Refused
from codegen.cpu.nest.plan import Plan
from codegen.cpu.rate_loops import multiply_loop, read_loop
from codegen.cpu.rules import check_cpu_problem
from hal import Device, DeviceSpec, LaunchSpec, Timing
from tuner.model.cpu_roof import CpuRates, Instruction, MultiplyRate, instructions_of
from tuner.space.cpu.heuristic import default_cpu_config

_SIZE = 1024  # of a product whose default has whole tiles
_TYPES = (DType.F32, DType.BF16, DType.S8, DType.U8)  # of both operands; others are multiplied as one of these
_TIMING = Timing(warmup_s=0.01, min_samples=50, min_time_s=0.15, max_time_s=0.6)
_TIMEOUT_S = 20.0
_CACHES = 4  # times what all caches hold, in rotating buffers: what is read is not in them
_LEAST_BYTES, _MOST_BYTES = 2**26, 2**30
_READ_BYTES = 2**22  # by one launch, which is short for the reason that those of multiplies are


def measure_rates(device: Device, spec: DeviceSpec, caches_bytes: int) -> CpuRates:
    """Return the rates of a CPU: the least times of some launches. Takes about half a second.

    `caches_bytes` is the size of its last-level caches together.

    Raises:
        HalError: a loop cannot run.
        Refused: no instructions of the CPU multiply a type.
    """
    threads = spec.cores or 1
    found: dict[str, float] = {}
    for dtype in _TYPES:
        if _first(dtype, spec).measured_as not in found:
            name, rate = multiply_rate(device, dtype, threads)
            found[name] = rate
    launch, read_bytes = read_loop(plan_for_rate(DType.F32, spec), threads, _READ_BYTES)
    rotating = replace(_TIMING, rotate_bytes=min(max(_CACHES * caches_bytes, _LEAST_BYTES), _MOST_BYTES))
    rates = tuple(MultiplyRate(name, rate) for name, rate in found.items())
    return CpuRates(rates, read_bytes / _least_s(device, launch, rotating))


def multiply_rate(device: Device, dtype: DType, threads: int) -> tuple[str, float]:
    """Return the instruction that multiplies elements of a type, and its operations a second on so many threads.

    Raises:
        HalError: its loop cannot run.
        Refused: the CPU has none.
    """
    plan = plan_for_rate(dtype, device.spec)
    launch, operations = multiply_loop(plan, threads)
    return f"{plan.isa} {plan.multiply}", operations / _least_s(device, launch)


def _least_s(device: Device, launch: LaunchSpec, timing: Timing = _TIMING) -> float:
    """Return the least time of a launch: others that use the machine meanwhile only add to it."""
    given = tuple(np.zeros(argument.nbytes, np.uint8) for argument in launch.arguments if argument.role != "scratch")
    report = device.run(launch, given, timing, _TIMEOUT_S)
    return min(report.times_us) * 1e-6


def plan_for_rate(dtype: DType, spec: DeviceSpec) -> Plan:
    """Return a plan of the instruction that multiplies whole elements of a type.

    Raises:
        Refused: the CPU has none.
    """
    problem = _problem(dtype)
    return Plan(problem, default_cpu_config(problem, spec, isa=_first(dtype, spec).isa), spec.isa or ())


def _first(dtype: DType, spec: DeviceSpec) -> Instruction:
    problem = _problem(dtype)
    check_cpu_problem(problem, spec)
    for instruction in instructions_of(problem, spec):
        return instruction
    raise Refused("isa", f"no instructions of {spec.name} multiply {dtype.value}")


def _problem(dtype: DType) -> GemmProblem:
    return GemmProblem(_SIZE, _SIZE, _SIZE, dtype_a=dtype, dtype_b=dtype)
