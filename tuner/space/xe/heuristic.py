"""The default configuration: the four steps of the deep-tiled matmul document, applied to Xe.

Source: DOC: deep-Tiled Matmul, "Config/Schedule": innermost, threads, block, loop order.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from codegen import DType, GemmProblem, LoopOrder, Refused, SlmOperands, SplitK, WorkspaceOperands, XeConfig
from codegen.xe.rules import ceil_div, check_problem, tiles_of_blocks
from codegen.xe.rules.case import Problem, prepared, worth_preparing
from codegen.xe.rules.tiles import (
    chooses_blocks_of_a,
    chooses_blocks_of_b,
)
from hal import DeviceSpec
from tuner.errors import CannotPredict
from tuner.model.core_clocks import Rates, access_clocks, core_clocks, gpu_rates, known
from tuner.model.resolution import RESOLUTION
from tuner.model.traffic import bytes_read_together
from tuner.model.xe import CONSTANTS, columns_of_axes, l2_size, predict, predict_many
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
# With weights that load several rows of scales or zero points in such a round, or are integers of 8 bits: more DPAS
# share a row, and the moves of a round. Those of e4m3 to f16 would wait for registers.
_STEPS_A_ROUND_OF_WEIGHTS = 4
# The distance at which mlir-extensions' GEMM examples were fastest on a B580, of 0, 1 and 3.
_PREFETCH_DISTANCE = 3
# Buffers of shared local memory: one is filled while the other is multiplied.
_STAGES = 2
# Where rates are unknown (a CPU that emulates DPAS): one lane-wide multiply-add or one element load per clock.
_EMULATED_ENGINE_FMA, _EMULATED_BYTES = 16, 4
_NOT_SPLIT = "K is not split over work-groups: tiles keep most engines busy"
# Predicted times are compared in steps of this factor.
_EQUAL = 1.02
# Rows of a sub-group that share what one conversion of weights makes: with fewer, DPAS are not what bounds a K loop.
_ROWS_OF_CONVERSION = 64
_KEPT_DEFAULTS = 256  # of a process: small, and a job, its trials and its page ask for the same one
_EXPLAINING = Lock()  # jobs of many equal devices begin together: one of them computes it


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

    Devices of equal facts share it. Thread-safe.

    Raises:
        Refused: the problem or the device is refused, or no tile is legal.
    """
    check_problem(problem, spec)  # here, as its message may name the device
    with _EXPLAINING:
        return _kept_default(problem, facts_alone(spec))


def facts_alone(spec: DeviceSpec) -> DeviceSpec:
    """Return the device without its id and driver, on which neither default nor space depends."""
    provenance = {name: source for name, source in spec.provenance.items() if name != "driver"}
    return replace(spec, id="", driver=None, provenance=provenance)


@lru_cache(_KEPT_DEFAULTS)
def _kept_default(problem: GemmProblem, spec: DeviceSpec) -> Default:
    on = check_problem(problem, spec)
    plain, *others = (default_of(way) for way in ways_of(on))
    times = [_predicted_us(problem, default, spec) for default in (plain, *others)] if others else [None]
    known_us = [(us, default) for us, default in zip(times, (plain, *others), strict=True) if us is not None]
    if len(known_us) != len(times):
        return plain
    best = min(known_us, key=lambda each: each[0])[1]
    said = ", ".join(f"{us:.4g} us with {default.point.workspace}" for us, default in known_us)
    why = f"predicted: {said}; what is not in the workspace is accessed by lanes{_or_decoded(on)}"
    return replace(best, steps=(*best.steps, HeuristicStep("workspace", best.point.workspace, why)))


def _or_decoded(on: Problem) -> str:
    return ", or weights that each work-group decodes again" if on.given.has_weights else ""


def ways_of(on: Problem) -> list[Problem]:
    """Return a problem as it is and with the operands prepared that may be worth it; weights also without decoding."""
    worth = worth_preparing(on)
    others = [worth] if worth is not WorkspaceOperands.NONE and not on.target.emulated else []
    if others and on.given.has_weights and worth.has_a:
        others.append(WorkspaceOperands.A)
    return [on, *(prepared(on, which) for which in others)]


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
    tile = _without_spills(on, ranges, best_tiles(on, ranges, rates))
    staged, why_staged = _stage(on, ranges, tile)
    fetched, why_fetch = _prefetch(on, ranges, staged)
    point, why_split = _split(on, ranges, fetched)
    clocks = core_clocks(on.problem, config_of(on.problem, point), rates)
    return (
        point,
        why_split,
        f"of the tiles whose accumulator and operands fit {point.grf} registers {_why_tile(on, tile)}; for an "
        f"element of K {'DPAS' if on.uses_dpas else 'multiply-add'} {clocks.dpas:g} clocks, L1 {clocks.l1:g}, "
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


def best_tiles(on: Problem, ranges: Ranges, rates: Rates) -> list[Point]:
    """Return the widest tiles, the best first: by predicted time with the best split and raster; where the model does
    not predict the device, by clocks, then by bytes loaded again.

    Raises:
        Refused: there is none.
    """

    def clocks(point: Point) -> tuple[float, ...]:
        config = config_of(on.problem, point)
        clocks = core_clocks(on.problem, config, rates)
        reload = on.problem.products / point.block_m + 1 / point.block_n
        shape = abs(config.sg_m - config.sg_n * on.problem.products), config.sg_m
        return clocks.dpas + clocks.l1 + clocks.l2, reload, config.subgroups, *shape

    tiles = list(widest_tiles(on, ranges))
    if not tiles:
        raise Refused("registers", f"no tile of {on.given} is legal on {on.spec.name}")
    launches = [(tile, launch) for tile in tiles for launch in _launches(on, ranges, _usual(on, ranges, tile))]
    order = _order(on, [launch for _, launch in launches])
    if order is None:
        return sorted(tiles, key=clocks)
    return list(dict.fromkeys(launches[i][0] for i in order))


def with_defaults(on: Problem, ranges: Ranges, tiles: Iterable[Point], rates: Rates) -> list[Point]:
    """Return tiles with the strategy that the default would have on each, except splits of K."""
    staged = (_stage(on, ranges, _shallower(on, ranges, tile) or tile)[0] for tile in tiles)
    rasters = [_legal_rasters(on, ranges, _prefetch(on, ranges, point)[0]) for point in staged]
    # The model predicts many launches in little more time than one.
    costs = _costs(on, [raster for each in rasters for raster in each])
    ends = np.cumsum([len(each) for each in rasters])[:-1]
    of_each = [None] * len(rasters) if costs is None else np.split(costs, ends, axis=1)
    return [each[_best_raster(on, each, cost, rates)] for each, cost in zip(rasters, of_each, strict=True)]


def _why_tile(on: Problem, tile: Point) -> str:
    if _order(on, [tile]) is None:
        return "the fewest clocks, as the model does not predict this device"
    return "the least predicted time with its best raster and split of K"


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


def _usual(on: Problem, ranges: Ranges, tile: Point) -> Point:
    """Return a tile with about the strategy that the default has, to predict its time: no rule is applied."""
    if on.lanes_a or on.lanes_b:
        return _stage(on, ranges, tile)[0]
    return tile._replace(prefetch=max(_distances(on, ranges, tile)), k_unroll=_steps_a_round(on, tile))


def _launches(on: Problem, ranges: Ranges, point: Point) -> list[Point]:
    """Return a point with each raster, and each number of splits of K that the thread slots have room for."""
    spec, (groups_m, groups_n) = on.spec, _groups(on, point)
    slots = (spec.xe_cores or 1) * (spec.eus_per_core or 1) * (spec.threads_per_eu_large_grf or 1)
    subgroups = groups_m * groups_n * on.problem.batch * point.sg_rows * point.sg_columns
    splits = [1, *(n for n in ranges.splits[1:] if n * subgroups <= slots)]
    split = [point if n == 1 else point._replace(splits=n, split_k=SplitK.PARTIAL_SUMS.value) for n in splits]
    return [raster for each in split for raster in _rasters(on, ranges, each)]


def _rasters(on: Problem, ranges: Ranges, point: Point) -> list[Point]:
    """Return a point with each raster; only plain ones if L2 holds all, none but the first if tiles lie in one line."""
    if 1 in _groups(on, point):
        return [point]
    inputs = sum(operand.nbytes(on.problem.batch) for operand in on.problem.operands[:2])
    l2_bytes = _l2_bytes(on.spec)
    stays = l2_bytes is None or inputs <= l2_bytes / 2
    groups = ranges.raster_group[:1] if stays or on.target.emulated else ranges.raster_group
    orders = (LoopOrder.M_OUTER.value, LoopOrder.N_OUTER.value)
    return [point._replace(order=order, raster_group=group) for group in groups for order in orders]


def _groups(on: Problem, point: Point) -> tuple[int, int]:
    return tiles_of_blocks(on.problem, point.block_m, point.block_n)


def _order(on: Problem, points: Sequence[Point]) -> NDArray[np.intp] | None:
    """Return the indices of points, the best first; None where the model does not predict the device.

    Of times in the same step of _EQUAL, the least burden is the best. A launch that leaves engines without a sub-group
    counts as slower by the model's resolution: within it, more engines are the safer choice, and so are more rows that
    share the conversion of weights.
    """
    costs = _costs(on, points)
    return None if costs is None else _best_first(on, costs)


def _costs(on: Problem, points: Sequence[Point]) -> NDArray[np.float64] | None:
    """Return [3, points]: predicted times, burdens, and rows that too few share the conversion of weights with; None
    where the model does not predict the device.
    """
    if on.target.emulated or not points:
        return None
    c = columns_of_axes(on.given, dict(zip(Point._fields, map(np.array, zip(*points, strict=True)), strict=True)))
    try:
        predicted = predict_many(on.given, c, on.spec)
    except CannotPredict:
        return None
    groups = c.groups_m * c.groups_n * c.splits * on.problem.batch
    of_core = groups // known(on.spec, "xe_cores") * c.sg_rows * c.sg_columns
    has_idle = of_core < known(on.spec, "eus_per_core")
    times = (predicted.time_us - predicted.parts["launch"]) * np.where(has_idle, RESOLUTION, 1.0)
    rows = np.maximum(0, _ROWS_OF_CONVERSION - c.block_m / c.sg_rows) if on.problem.has_weights else 0.0
    return np.stack(np.broadcast_arrays(times, predicted.burden, rows))


def _best_first(on: Problem, costs: NDArray[np.float64]) -> NDArray[np.intp]:
    times, burden, rows = costs
    step, logs = RESOLUTION if on.problem.has_weights else _EQUAL, np.log(times / times.min())
    return np.lexsort((burden, np.round(logs / np.log(_EQUAL)), rows, np.round(logs / np.log(step))))


def _split(on: Problem, ranges: Ranges, point: Point) -> tuple[Point, str]:
    """Choose splits of K: those of the best launch."""
    launches = [p for p in _launches(on, ranges, point) if p.splits == 1 or is_legal(on, p)]
    order = _order(on, launches)
    if order is None:
        return point, "K is not split: the model does not predict this device"
    best = launches[order[0]]
    if best.splits == 1:
        return point, "K is not split: more work-groups would save less than a kernel takes that adds up their sums"
    groups_m, groups_n = _groups(on, point)
    why = f"K is split into {best.splits}: without, {groups_m * groups_n * on.problem.batch} work-groups would run"
    return point._replace(splits=best.splits, split_k=best.split_k), why


def _without_spills(on: Problem, ranges: Ranges, tiles: list[Point]) -> Point:
    """Return the first tile without known causes of spills, maybe with a shorter K step; the first if none is left."""
    return next((point for tile in tiles if (point := _shallower(on, ranges, tile)) is not None), tiles[0])


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
    """Choose the prefetch distance: the best measured one, or a shorter one where K ends sooner or L1 is full."""
    if on.target.emulated:
        return point, "prefetches have no effect where built-ins are emulated"
    if len(ranges.prefetch) == 1:
        return point, "prefetches have no effect where lanes access A and B"
    distances = [point._replace(prefetch=d) for d in _distances(on, ranges, point) if d > 0]
    fetched = next((p for p in reversed(distances) if is_legal(on, p)), point)
    why = f"prefetch {fetched.prefetch} K steps ahead, which L1 keeps for all work-groups of a core"
    steps = _steps_a_round(on, fetched)
    unrolled = fetched._replace(k_unroll=steps)
    if fetched.prefetch and keeps_registers(on, config_of(on.problem, unrolled)) and is_legal(on, unrolled):
        return unrolled, f"{why}, one for the {steps} steps of a round"
    return fetched, why


def _steps_a_round(on: Problem, point: Point) -> int:
    """Return the K steps of a round."""
    problem, quantization = on.problem, on.problem.quantization
    if problem.has_weights and problem.dtype_b in (DType.S8, DType.U8):
        return _STEPS_A_ROUND_OF_WEIGHTS
    if quantization is None or quantization.group is None:
        return _STEPS_A_ROUND
    rows = ceil_div(_STEPS_A_ROUND * point.block_k, quantization.group) * (1 + quantization.zeros)
    return _STEPS_A_ROUND_OF_WEIGHTS if rows > 1 else _STEPS_A_ROUND


def _distances(on: Problem, ranges: Ranges, point: Point) -> list[int]:
    """Return the prefetch distances up to the best measured one whose data L1 keeps, at least that of one step."""
    spec, most = on.spec, _PREFETCH_DISTANCE
    if spec.l1_bytes is not None:
        threads = (spec.eus_per_core or 1) * (spec.threads_per_eu_large_grf or 1)
        together = max(1, threads // (point.sg_rows * point.sg_columns))
        step_bytes = (point.block_m + point.block_n * on.problem.products) * point.block_k * on.problem.dtype_a.nbytes
        most = max(1, min(most, int(CONSTANTS.kept_in_l1 * spec.l1_bytes) // (together * step_bytes) - 1))
    return [d for d in ranges.prefetch if d <= most]


def _raster(on: Problem, ranges: Ranges, point: Point, rates: Rates) -> tuple[Point, str]:
    """Choose the raster with the least predicted time, or whose concurrent work-groups read the fewest distinct bytes.

    Those bytes also decide where the model does not predict the device.
    """
    if 1 in _groups(on, point):
        return point, "tiles lie in one line"
    rasters = _legal_rasters(on, ranges, point)
    read = _read_together(on, rasters, rates)
    best = _best_raster(on, rasters, _costs(on, rasters), rates)
    others = ", ".join(f"{_print_raster(p)} {bytes_}" for p, bytes_ in zip(rasters[:2], read[:2], strict=True))
    why = f"work-groups that run together read {read[best]} bytes for an element of K; plain rasters: {others}"
    is_grouped = any(p.raster_group > 1 for p in rasters)
    return rasters[best], why if is_grouped else f"{why}; not grouped, as {_why_plain(on)}"


def _legal_rasters(on: Problem, ranges: Ranges, point: Point) -> list[Point]:
    """Return a point with each legal raster; as it is if tiles lie in one line."""
    rasters = _rasters(on, ranges, point)
    return rasters if len(rasters) == 1 else [p for p in rasters if is_legal(on, p)]


def _best_raster(on: Problem, rasters: Sequence[Point], costs: NDArray[np.float64] | None, rates: Rates) -> int:
    if len(rasters) == 1:
        return 0
    return int(np.argmin(_read_together(on, rasters, rates)) if costs is None else _best_first(on, costs)[0])


def _read_together(on: Problem, rasters: Sequence[Point], rates: Rates) -> list[int]:
    return [bytes_read_together(on.problem, config_of(on.problem, p), rates.cores) for p in rasters]


def _why_plain(on: Problem) -> str:
    if on.target.emulated:
        return "this is no GPU"
    return "the size of L2 is not known" if _l2_bytes(on.spec) is None else "A and B stay in half of L2"


def _l2_bytes(spec: DeviceSpec) -> int | None:
    """Return the size of L2, assumed where only cores are known; None where those are unknown too."""
    return None if spec.l2_bytes is None and spec.xe_cores is None else l2_size(spec).likely


def _print_raster(point: Point) -> str:
    return point.order if point.raster_group == 1 else f"{point.order} in groups of {point.raster_group}"
