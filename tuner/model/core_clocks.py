"""Clocks that the busiest core of a device spends on one element of K."""

from dataclasses import dataclass

from codegen import GemmProblem, XeConfig
from codegen.xe.rules import (
    ceil_div,
    tiles_of,
)
from codegen.xe.rules.case import Problem
from hal import DeviceSpec
from tuner.errors import CannotPredict

_F16_BYTES = 2


@dataclass(frozen=True, slots=True)
class Rates:
    """Throughput of a device for a problem: units and rates per clock; the bytes are those of one core.

    `clocks_a` and `clocks_b` scale the clocks that bytes of A and B take from L1, by how they are accessed.
    """

    cores: int
    engines: int
    fma_per_engine: int
    l1_bytes: int
    l2_bytes: int
    clocks_a: int = 1
    clocks_b: int = 1


@dataclass(frozen=True, slots=True)
class CoreClocks:
    """Clocks for one element of K, by the limiting resource."""

    dpas: float
    l1: float
    l2: float


def gpu_rates(on: Problem) -> Rates:
    """Return the rates of an Xe GPU.

    No table states the bandwidth of the caches. Assumed: L1 delivers one register per clock and engine, L2
    one per clock and core. DPAS multiplies as many bytes per clock of every type; f32 without it is assumed
    to do one multiply-add per lane and clock.

    Raises:
        CannotPredict: a fact is unknown.
    """
    spec = on.spec
    engines, register = known(spec, "eus_per_core"), known(spec, "grf_bytes")
    if on.uses_dpas:
        fma = known(spec, "dpas_f16_fma_per_clk_per_eu") * _F16_BYTES // on.problem.dtype_a.nbytes
    else:
        fma = spec.f32_fma_per_clk_per_eu or on.target.subgroup_size
    l1_bytes = engines * register
    clocks_a, clocks_b = access_clocks(on, l1_bytes)
    return Rates(
        cores=known(spec, "xe_cores"),
        engines=engines,
        fma_per_engine=fma,
        l1_bytes=l1_bytes,
        l2_bytes=register,
        clocks_a=clocks_a,
        clocks_b=clocks_b,
    )


def access_clocks(on: Problem, l1_bytes: int) -> tuple[int, int]:
    """Return the factors by which lane accesses of A and B are slower than block messages.

    Assumed for lane accesses: a core handles one message per clock, of one element per lane, or one register of
    vectors.
    """
    elements = max(1, l1_bytes // (on.target.subgroup_size * on.problem.dtype_a.nbytes))
    vectors = max(1, l1_bytes // on.target.grf_bytes)
    return (
        vectors if on.vectors_a else elements if on.lanes_a else 1,
        vectors if on.vectors_b else elements if on.lanes_b else 1,
    )


def known(spec: DeviceSpec, fact: str) -> int:
    """Return the value of a fact.

    Raises:
        CannotPredict: it is unknown.
    """
    value = getattr(spec, fact)
    if value is None:
        raise CannotPredict(spec.name, fact)
    return value


def core_clocks(problem: GemmProblem, config: XeConfig, rates: Rates) -> CoreClocks:
    """Return the clocks of the core with the most tiles; its sub-groups share its engines."""
    block, threads, tiles = config.matmul.block, config.matmul.threads, tiles_of(problem, config)
    groups = ceil_div(threads.m * threads.n * threads.k * problem.batch, rates.cores)
    groups *= ceil_div(tiles[0], threads.m) * ceil_div(tiles[1], threads.n)
    subgroups = groups * config.subgroups
    of_a, of_b, parts = problem.dtype_a.nbytes, problem.bytes_b, config.strategy.k_subgroups
    sg_n, block_n = config.sg_n * problem.products, block.n * problem.products
    return CoreClocks(
        dpas=ceil_div(subgroups, rates.engines) * config.sg_m * sg_n / parts / rates.fma_per_engine,
        l1=subgroups * (config.sg_m * rates.clocks_a * of_a + sg_n * rates.clocks_b * of_b) / parts / rates.l1_bytes,
        l2=groups * (block.m * of_a + block_n * of_b) / rates.l2_bytes,
    )
