"""The default configuration: the four steps of the deep-tiled matmul document, read for Xe.

Source: DOC: deep-Tiled Matmul, "Config/Schedule": innermost, threads, block, loop order.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from codegen import GemmProblem, KernelConfig, LoopOrder, Refused
from codegen.rules import ceil_div, check_problem, config_refusal
from codegen.target import Target, target_of
from hal import DeviceSpec
from tuner.errors import CannotPredict
from tuner.model.core_clocks import Rates, core_clocks, gpu_rates
from tuner.xe_space import Ranges, config_of, ranges_of

# The distance at which mlir-extensions' GEMM examples were fastest on a B580, of 0, 1 and 3.
_PREFETCH_DISTANCE = 3
# Where rates are unknown (a CPU that emulates DPAS): one lane-wide multiply-add or one element loaded a clock.
_EMULATED_ENGINE_FMA, _EMULATED_BYTES = 16, 4


@dataclass(frozen=True, slots=True)
class HeuristicStep:
    """One step: what it decides, the choice, and why."""

    name: str
    choice: str
    why: str


@dataclass(frozen=True, slots=True)
class Default:
    """The default configuration and the steps that led to it."""

    config: KernelConfig
    steps: tuple[HeuristicStep, ...]


def default_config(problem: GemmProblem, spec: DeviceSpec) -> KernelConfig:
    """The default configuration; always legal, and in the space.

    Raises:
        Refused: the problem or the device is refused.
    """
    return explain_default(problem, spec).config


def explain_default(problem: GemmProblem, spec: DeviceSpec) -> Default:
    """The default configuration with the reason of each step.

    Raises:
        Refused: the problem or the device is refused.
    """
    check_problem(problem, spec)
    target = target_of(spec)
    ranges = ranges_of(problem, spec, target)
    rates, cores = _rates(spec)
    load_k = ranges.load_k[-1]
    tiled = _best_tiles(problem, spec, target, ranges, rates)
    distance, why_distance = _prefetch(problem, spec, target, tiled)
    order, why_order = _order(problem, tiled, rates)
    block, load, s = tiled.matmul.block, tiled.matmul.innermost, tiled.strategy
    values = (block.m, block.n, block.k, *s.sg_layout, load.m, load.k, load.n, s.grf_mode, distance, order.value)
    config = config_of(problem, values)
    groups, clocks = config.matmul.threads.m * config.matmul.threads.n, core_clocks(problem, config, rates)
    steps = (
        HeuristicStep(
            "innermost",
            f"A {load.m}x{load.k}, B {load.k}x{load.n}",
            f"the largest multiples of the DPAS shape {target.dpas_m}x{target.dpas_n} that one 2-D block message "
            f"({target.block2d_max_rows} rows, {target.block2d_max_width_bytes} bytes) and the sub-group tile allow",
        ),
        HeuristicStep(
            "threads",
            f"{config.matmul.threads}",
            f"{groups} work-groups on {rates.cores} {cores}: the busiest runs {ceil_div(groups, rates.cores)}",
        ),
        HeuristicStep(
            "block",
            f"{block} by {s.sg_layout[0]}x{s.sg_layout[1]} sub-groups of {config.sg_m}x{config.sg_n}, "
            f"GRF {s.grf_mode}, prefetch {distance}",
            f"of the tiles whose accumulator and operands fit {s.grf_mode} registers the fewest clocks for an element "
            f"of K: DPAS {clocks.dpas:g}, L1 {clocks.l1:g}, L2 {clocks.l2:g}; "
            f"K step {load_k} is one load; {why_distance}",
        ),
        HeuristicStep("loop order", order.value, why_order),
    )
    return Default(config, steps)


def _rates(spec: DeviceSpec) -> tuple[Rates, str]:
    try:
        return gpu_rates(spec), "Xe cores"
    except CannotPredict:
        cores = spec.xe_cores or spec.cores
        engines = spec.eus_per_core or 1
        what = "Xe cores" if spec.xe_cores else "CPU cores" if spec.cores else "core (their number is not known)"
        return Rates(cores or 1, engines, _EMULATED_ENGINE_FMA, engines * _EMULATED_BYTES, 16 * _EMULATED_BYTES), what


def _best_tiles(problem: GemmProblem, spec: DeviceSpec, target: Target, ranges: Ranges, rates: Rates) -> KernelConfig:
    """The legal blocks and layouts of least clocks, then least reloading; loads as large as the tile allows."""

    def cost(config: KernelConfig) -> tuple[float, ...]:
        clocks, block = core_clocks(problem, config, rates), config.matmul.block
        reload = 1 / block.m + 1 / block.n
        return clocks.dpas + clocks.l1 + clocks.l2, reload, config.subgroups, abs(config.sg_m - config.sg_n)

    legal = [c for c in _tiles(problem, ranges) if config_refusal(problem, c, spec, target) is None]
    if not legal:
        raise Refused("registers", f"no tile of {problem} is legal on {spec.name}")
    return min(legal, key=cost)


def _tiles(problem: GemmProblem, ranges: Ranges) -> Iterator[KernelConfig]:
    load_k = ranges.load_k[-1]
    for m, n, rows, columns in product(ranges.block_m, ranges.block_n, ranges.sg_rows, ranges.sg_columns):
        load_m = max((v for v in ranges.load_m if v <= m // rows), default=None)
        load_n = max((v for v in ranges.load_n if v <= n // columns), default=None)
        if load_m is not None and load_n is not None:
            loads = (load_m, load_k, load_n)
            yield config_of(problem, (m, n, load_k, rows, columns, *loads, ranges.grf[-1], 0, LoopOrder.M_OUTER.value))


def _prefetch(problem: GemmProblem, spec: DeviceSpec, target: Target, config: KernelConfig) -> tuple[int, str]:
    """Distance: as measured best, shorter where K ends sooner or half of L1 is full."""
    if target.emulated:
        return 0, "prefetches have no effect where built-ins are emulated"
    block = config.matmul.block
    step_bytes = (block.m + block.n) * block.k * problem.dtype_a.nbytes
    distance = min(_PREFETCH_DISTANCE, ceil_div(problem.k, block.k) - 1)
    if spec.l1_bytes is not None:
        distance = min(distance, spec.l1_bytes // 2 // step_bytes)
    return distance, f"prefetch {distance} K steps of {step_bytes} bytes ahead, within half of L1"


def _order(problem: GemmProblem, config: KernelConfig, rates: Rates) -> tuple[LoopOrder, str]:
    """The raster whose work-groups that run at one time read the fewest different bytes."""
    block, threads, nbytes = config.matmul.block, config.matmul.threads, problem.dtype_a.nbytes

    def distinct(along: int, across: int, along_size: int, across_size: int) -> int:
        running = min(rates.cores, along * across)
        return (min(running, along) * along_size + ceil_div(running, along) * across_size) * problem.k * nbytes

    along_n = distinct(threads.n, threads.m, block.n, block.m)
    along_m = distinct(threads.m, threads.n, block.m, block.n)
    order = LoopOrder.M_OUTER if along_n <= along_m else LoopOrder.N_OUTER
    return order, f"work-groups that run together read {along_n} bytes along N, {along_m} along M"
