"""The default configuration: the four steps of the deep-tiled matmul document, applied to Xe.

Source: DOC: deep-Tiled Matmul, "Config/Schedule": innermost, threads, block, loop order.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from codegen import GemmProblem, LoopOrder, Refused, SlmOperands, SplitK, XeConfig
from codegen.xe.rules import (
    ceil_div,
    check_problem,
    steps_of,
)
from codegen.xe.rules.case import Problem, with_copies
from codegen.xe.rules.tiles import (
    chooses_blocks_of_a,
    chooses_blocks_of_b,
)
from hal import DeviceSpec
from tuner.errors import CannotPredict
from tuner.model.core_clocks import Rates, access_clocks, core_clocks, gpu_rates
from tuner.model.traffic import bytes_read_together, split_bytes
from tuner.model.xe import l2_size, predict
from tuner.space.step import HeuristicStep
from tuner.space.xe.axes import (
    Point,
    Ranges,
    ranges_of,
)
from tuner.space.xe.few_rows import few_rows_tile
from tuner.space.xe.points import config_of
from tuner.space.xe.spills import keeps_registers
from tuner.space.xe.tiles import (
    case_of,
    is_legal,
    settled,
    widest_tiles,
)

# Half of the prefetches and of their moves: benchmarks/compiler/isa.py. More in a round compile longer.
_STEPS_A_ROUND = 2
# The distance at which mlir-extensions' GEMM examples were fastest on a B580, of 0, 1 and 3.
_PREFETCH_DISTANCE = 3
# Buffers of shared local memory: one is filled while the other is multiplied.
_STAGES = 2
# Where rates are unknown (a CPU that emulates DPAS): one lane-wide multiply-add or one element load per clock.
_EMULATED_ENGINE_FMA, _EMULATED_BYTES = 16, 4
_NOT_SPLIT = "K is not split over work-groups: tiles keep most engines busy"
# Splitting K must save this many times the clocks of its sums and of one more kernel (assumed).
_WORTH, _NEXT_KERNEL_CLOCKS = 2, 4000


@dataclass(frozen=True, slots=True)
class Default:
    """The default configuration, its point, and the steps that led to it."""

    config: XeConfig
    point: Point
    steps: tuple[HeuristicStep, ...]


def default_config(problem: GemmProblem, spec: DeviceSpec) -> XeConfig:
    """Return the default configuration; always legal, and in the space.

    Raises:
        Refused: the problem or the device is refused, or no tile is legal.
    """
    return explain_default(problem, spec).config


def explain_default(problem: GemmProblem, spec: DeviceSpec) -> Default:
    """Return the default configuration with the reason of each step.

    Raises:
        Refused: the problem or the device is refused, or no tile is legal.
    """
    plain, *padded = (default_of(on) for on in ways_of(check_problem(problem, spec)))
    by_lanes = _predicted_us(problem, plain, spec) if padded else None
    copied = _predicted_us(problem, padded[0], spec) if padded else None
    if by_lanes is None or copied is None:
        return plain
    best = padded[0] if copied < by_lanes else plain
    why = (
        f"{best.config.strategy.pad_workspace.value}, predicted {copied:.4g} us with copies for block messages and "
        f"{by_lanes:.4g} us by lanes"
    )
    return replace(best, steps=(*best.steps, HeuristicStep("pad_workspace", best.point.pad_workspace, why)))


def ways_of(on: Problem) -> list[Problem]:
    """Return a problem as it is and, if lanes access operands that could be copied for block messages, so."""
    copied = with_copies(on)
    return [on] if copied is None or on.target.emulated else [on, copied]


def _predicted_us(problem: GemmProblem, default: Default, spec: DeviceSpec) -> float | None:
    try:
        return predict(problem, default.config, spec).time_us
    except CannotPredict:
        return None


def default_of(on: Problem) -> Default:
    """Return the default of one way to access operands.

    Raises:
        Refused: no tile is legal.
    """
    problem, ranges = on.problem, ranges_of(on)
    rates, cores = rates_of(on)
    few = few_rows_tile(on, ranges, rates)
    why_loads = _why_loads(on) if few is None else "sub-groups that multiply parts of K load the largest blocks"
    fetched, why_split, why_tile = _of_many_rows(on, ranges, rates) if few is None else (few[0], _NOT_SPLIT, few[1])
    point, why_order = _raster(on, ranges, fetched, rates)
    config = config_of(problem, point)
    threads, layout = config.matmul.threads, f"{point.sg_rows}x{point.sg_columns}"
    groups = threads.m * threads.n * threads.k * problem.batch
    steps = (
        HeuristicStep("innermost", f"A {point.load_m}x{point.load_k}, B {point.load_k}x{point.load_n}", why_loads),
        HeuristicStep(
            "threads",
            f"{threads}",
            f"{groups} work-groups on {rates.cores} {cores}: the busiest runs {ceil_div(groups, rates.cores)}; "
            f"{why_split}",
        ),
        HeuristicStep(
            "block",
            f"{config.matmul.block} by {layout if few is None else f'{layout}x{point.k_subgroups}'} sub-groups of "
            f"{config.sg_m}x{config.sg_n}, "
            f"GRF {point.grf}, prefetch {point.prefetch}, {point.k_unroll} K steps a round",
            why_tile,
        ),
        HeuristicStep("loop order", _print_raster(point), why_order),
    )
    return Default(config, point, steps)


def _of_many_rows(on: Problem, ranges: Ranges, rates: Rates) -> tuple[Point, str, str]:
    """Return the best tile with its splits, staging and prefetches, why K is split or not, and why this tile."""
    tiles = _without_spills(on, ranges, best_tiles(on, widest_tiles(on, ranges), rates))
    split, why_split = _split(on, ranges, tiles, rates)
    staged, why_staged = _stage(on, ranges, split)
    point, why_fetch = _prefetch(on, ranges, staged)
    clocks = core_clocks(on.problem, config_of(on.problem, point), rates)
    return (
        point,
        why_split,
        f"of the tiles whose accumulator and operands fit {point.grf} registers the fewest clocks for an element "
        f"of K: {'DPAS' if on.uses_dpas else 'multiply-add'} {clocks.dpas:g}, L1 {clocks.l1:g}, "
        f"L2 {clocks.l2:g}; a K step is {point.block_k * on.problem.dtype_a.nbytes} bytes of K; "
        f"{why_staged}{why_fetch}",
    )


def rates_of(on: Problem) -> tuple[Rates, str]:
    """Return the rates of a device, assumed if unknown, and the term for its cores."""
    try:
        return gpu_rates(on), "Xe cores"
    except CannotPredict:
        spec = on.spec
        cores = spec.xe_cores or spec.cores
        engines = spec.eus_per_core or 1
        what = "Xe cores" if spec.xe_cores else "CPU cores" if spec.cores else "core (their number is not known)"
        l1, l2 = engines * _EMULATED_BYTES, 16 * _EMULATED_BYTES
        return Rates(cores or 1, engines, _EMULATED_ENGINE_FMA, l1, l2, *access_clocks(on, l1)), what


def best_tiles(on: Problem, tiles: Iterable[Point], rates: Rates) -> list[Point]:
    """Return tiles by clocks, then by bytes loaded again, the best first.

    Raises:
        Refused: there is none.
    """

    def cost(point: Point) -> tuple[float, ...]:
        config = config_of(on.problem, point)
        clocks = core_clocks(on.problem, config, rates)
        reload = on.problem.products / point.block_m + 1 / point.block_n
        shape = abs(config.sg_m - config.sg_n * on.problem.products), config.sg_m
        return clocks.dpas + clocks.l1 + clocks.l2, reload, config.subgroups, *shape

    found = sorted(tiles, key=cost)
    if not found:
        raise Refused("registers", f"no tile of {on.problem} is legal on {on.spec.name}")
    return found


def with_defaults(on: Problem, ranges: Ranges, tile: Point, rates: Rates) -> Point:
    """Return a tile with the strategy that the default would have on it, except splits of K."""
    fetched, _ = _prefetch(on, ranges, _stage(on, ranges, _shallower(on, ranges, tile) or tile)[0])
    return _raster(on, ranges, fetched, rates)[0]


def _why_loads(on: Problem) -> str:
    case = case_of(on)
    free = [name for name, by in (("A", chooses_blocks_of_a(case)), ("B", chooses_blocks_of_b(case))) if by]
    t = on.target
    largest = (
        f"of {' and '.join(free)} the largest multiples of {t.dpas_m}x{t.dpas_n}x{on.dpas_k} that one 2-D block "
        f"message ({t.block2d_max_rows} rows, {t.block2d_max_width_bytes} bytes) and the sub-group tile allow"
    )
    fixed = [
        f"{name} {why}"
        for name, by_lanes, transposed in (
            ("A", on.lanes_a, on.problem.transpose_a),
            ("B", on.lanes_b, on.problem.transpose_b),
        )
        for why in [_fixed(on, by_lanes, transposed)]
        if why is not None
    ]
    return "; ".join([*([largest] if free else []), *fixed])


def _fixed(on: Problem, by_lanes: bool, transposed: bool) -> str | None:
    """Return why loads of an operand cannot be chosen."""
    if by_lanes:
        return "is accessed by lanes, without blocks"
    if not on.uses_dpas:
        return "is f32, multiplied without DPAS: its blocks follow from the tile"
    return "is transposed: its blocks follow from the tile" if transposed else None


def _split(on: Problem, ranges: Ranges, tiles: Iterator[Point], rates: Rates) -> tuple[Point, str]:
    """Choose splits of K, with tiles for them, if the best tile leaves most engines idle and adding up sums costs less.

    Further tiles, the best first, are taken from the iterator only then.
    """
    first = next(tiles)
    plain = config_of(on.problem, first)
    groups = plain.matmul.threads.m * plain.matmul.threads.n * on.problem.batch
    engines = rates.cores * rates.engines
    busy = min(groups * plain.subgroups, engines)
    if 2 * busy > engines:
        return first, _NOT_SPLIT
    best, least, every = first, _clocks(on, first, rates), [first, *tiles]
    for splits in ranges.splits[1:]:
        points = [tile._replace(splits=splits, split_k=SplitK.PARTIAL_SUMS.value) for tile in every]
        point = min(points, key=lambda p: _clocks(on, p, rates))
        if is_legal(on, point) and (clocks := _clocks(on, point, rates)) < least:
            best, least = point, clocks
    if best is first:
        return best, f"K is not split: sums over {on.problem.k} take less than to begin a kernel that adds up theirs"
    return best, f"K is split into {best.splits}: without, {busy} of {engines} engines would work"


def _clocks(on: Problem, point: Point, rates: Rates) -> float:
    """Return the clocks of a point over the whole of K, and of adding up its splits."""
    config = config_of(on.problem, point)
    clocks = core_clocks(on.problem, config, rates)
    multiply = (clocks.dpas + clocks.l1 + clocks.l2) * steps_of(on.problem, config) * config.k_step
    if point.splits == 1:
        return multiply
    sums = split_bytes(on.problem, config) / (rates.l2_bytes * rates.cores)
    return multiply + _WORTH * sums + _NEXT_KERNEL_CLOCKS


def _without_spills(on: Problem, ranges: Ranges, tiles: list[Point]) -> Iterator[Point]:
    """Yield the tiles without known causes of spills, some with a shorter K step; all tiles if none is left."""
    found = (point for tile in tiles if (point := _shallower(on, ranges, tile)) is not None)
    first = next(found, None)
    yield from tiles if first is None else chain([first], found)


def _shallower(on: Problem, ranges: Ranges, tile: Point) -> Point | None:
    """Return the tile with the longest K step, up to its own, that does not spill, staged as the default stages it."""
    for k in reversed([k for k in ranges.block_k if k <= tile.block_k]):
        point = tile if k == tile.block_k else settled(on, ranges, tile._replace(block_k=k))
        if keeps_registers(on, config_of(on.problem, _stage(on, ranges, point)[0])) and is_legal(on, point):
            return point
    return None


def _stage(on: Problem, ranges: Ranges, point: Point) -> tuple[Point, str]:
    """Stage operands in shared local memory that lanes access and several sub-groups share: each fetches a part once.

    Lanes fetch one element per message and lane, and without staging every sub-group fetches all of its operands.
    """
    shared = (on.lanes_a and point.sg_columns > 1, on.lanes_b and point.sg_rows > 1)
    slm = {(True, True): SlmOperands.BOTH, (True, False): SlmOperands.A, (False, True): SlmOperands.B}.get(shared)
    if slm is None or on.target.emulated:
        return point, ""
    staged = point._replace(slm=slm.value, slm_stages=_STAGES)
    shallower = (staged._replace(block_k=k) for k in reversed(ranges.block_k) if k <= point.block_k)
    found = next((p for p in (settled(on, ranges, p) for p in shallower) if is_legal(on, p)), None)
    if found is None:
        return point, ""
    return found, f"what lanes fetch goes through shared local memory ({slm.value}), once for a work-group; "


def _prefetch(on: Problem, ranges: Ranges, point: Point) -> tuple[Point, str]:
    """Choose the prefetch distance: the best measured one, or a shorter one where K ends sooner or half of L1
    is full.
    """
    if on.target.emulated:
        return point, "prefetches have no effect where built-ins are emulated"
    if len(ranges.prefetch) == 1:
        return point, "prefetches have no effect where lanes access A and B"
    p = on.problem
    step_bytes = (point.block_m + point.block_n * p.products) * point.block_k * p.dtype_a.nbytes
    most = _PREFETCH_DISTANCE
    if on.spec.l1_bytes is not None:
        most = min(most, on.spec.l1_bytes // 2 // step_bytes)
    distances = [point._replace(prefetch=d) for d in ranges.prefetch if 0 < d <= most]
    fetched = next((p for p in reversed(distances) if is_legal(on, p)), point)
    why = f"prefetch {fetched.prefetch} K steps of {step_bytes} bytes ahead, within half of L1"
    unrolled = fetched._replace(k_unroll=_STEPS_A_ROUND)
    if fetched.prefetch and keeps_registers(on, config_of(on.problem, unrolled)) and is_legal(on, unrolled):
        return unrolled, f"{why}, one for the {_STEPS_A_ROUND} steps of a round"
    return fetched, why


def _raster(on: Problem, ranges: Ranges, point: Point, rates: Rates) -> tuple[Point, str]:
    """Choose the raster whose concurrent work-groups read the fewest distinct bytes; plain if L2 holds all."""
    problem, threads = on.problem, config_of(on.problem, point).matmul.threads
    if threads.m == 1 or threads.n == 1:
        return point, "tiles lie in one line"
    inputs = sum(operand.nbytes(problem.batch) for operand in problem.operands[:2])
    l2_bytes = _l2_bytes(on.spec)
    stays = l2_bytes is None or inputs <= l2_bytes / 2
    groups = ranges.raster_group[:1] if stays or on.target.emulated else ranges.raster_group

    def read(p: Point) -> int:
        return bytes_read_together(problem, config_of(problem, p), rates.cores)

    orders = (LoopOrder.M_OUTER.value, LoopOrder.N_OUTER.value)
    candidates = [point._replace(order=order, raster_group=group) for group in groups for order in orders]
    legal = sorted((p for p in candidates if is_legal(on, p)), key=read)
    others = ", ".join(f"{_print_raster(p)} {read(p)}" for p in candidates[:2])
    why = f"work-groups that run together read {read(legal[0])} bytes for an element of K; plain rasters: {others}"
    return legal[0], why if len(groups) > 1 else f"{why}; not grouped, as {_why_plain(on)}"


def _why_plain(on: Problem) -> str:
    if on.target.emulated:
        return "this is no GPU"
    return "the size of L2 is not known" if _l2_bytes(on.spec) is None else "A and B stay in half of L2"


def _l2_bytes(spec: DeviceSpec) -> int | None:
    """Return the size of L2, assumed where only cores are known; None where those are unknown too."""
    return None if spec.l2_bytes is None and spec.xe_cores is None else l2_size(spec).likely


def _print_raster(point: Point) -> str:
    return point.order if point.raster_group == 1 else f"{point.order} in groups of {point.raster_group}"
