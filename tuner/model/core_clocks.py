"""Clocks that the busiest core of a device spends on one element of K."""

from dataclasses import dataclass

from codegen import GemmProblem, KernelConfig
from codegen.rules import ceil_div
from hal import DeviceSpec
from tuner.errors import CannotPredict


@dataclass(frozen=True, slots=True)
class Rates:
    """What a device does at once and in a clock; the bytes are those of one core."""

    cores: int
    engines: int
    fma_per_engine: int
    l1_bytes: int
    l2_bytes: int


@dataclass(frozen=True, slots=True)
class CoreClocks:
    """Clocks for one element of K, by what limits them."""

    dpas: float
    l1: float
    l2: float


def gpu_rates(spec: DeviceSpec) -> Rates:
    """Rates of an Xe GPU.

    No table states what the caches deliver. Assumed: L1 one register per clock and engine, L2 one per clock and core.

    Raises:
        CannotPredict: a fact is not known.
    """
    engines, register = known(spec, "eus_per_core"), known(spec, "grf_bytes")
    return Rates(
        cores=known(spec, "xe_cores"),
        engines=engines,
        fma_per_engine=known(spec, "dpas_f16_fma_per_clk_per_eu"),
        l1_bytes=engines * register,
        l2_bytes=register,
    )


def known(spec: DeviceSpec, fact: str) -> int:
    """The value of a fact.

    Raises:
        CannotPredict: it is not known.
    """
    value = getattr(spec, fact)
    if value is None:
        raise CannotPredict(spec.name, fact)
    return value


def core_clocks(problem: GemmProblem, config: KernelConfig, rates: Rates) -> CoreClocks:
    """Clocks of the core that runs the most work-groups; a core runs their sub-groups on its engines in turn."""
    block, threads = config.matmul.block, config.matmul.threads
    groups = ceil_div(threads.m * threads.n, rates.cores)
    subgroups = groups * config.subgroups
    nbytes = problem.dtype_a.nbytes
    return CoreClocks(
        dpas=ceil_div(subgroups, rates.engines) * config.sg_m * config.sg_n / rates.fma_per_engine,
        l1=subgroups * (config.sg_m + config.sg_n) * nbytes / rates.l1_bytes,
        l2=groups * (block.m + block.n) * nbytes / rates.l2_bytes,
    )
