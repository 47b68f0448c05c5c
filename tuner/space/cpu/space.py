"""The space of a problem on a CPU: ranges from its facts, membership from the rules of codegen.

All combinations are far too many to enumerate. The space holds the deviations from the default in one or two
choices, with the best register tiles, and a sample of deviations in more.
"""

from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import combinations

import numpy as np

from codegen import GemmProblem
from codegen.config.cpu import CpuConfig, Isa
from codegen.cpu.nest.plan import Plan
from codegen.cpu.rules import CpuProblem, check_cpu_problem, most_pieces, refusal_on_cpu
from hal import DeviceSpec
from tuner.space.cpu.heuristic import alternative_cpu_configs, as_batch, default_cpu_config
from tuner.space.cpu.points import (
    CpuPoint,
    CpuRanges,
    config_of,
    point_of,
    ranges_of,
    says_nothing,
    with_used_prefetch,
)
from tuner.space.cpu.tiles import best_tiles
from tuner.space.space import (
    KEPT_SPACES,
    Axis,
    Space,
)
from tuner.space.values import Value

MOST_PAIRS = 4_000
"""Number of points that deviate from the default, and from each alternative to it, in one or two choices."""
MOST_DRAWN = 6_000
"""Number of points that deviate in more."""
_GOOD_TILES = 12
_SEED = 20  # seed of the sample: the space is deterministic
# Axes after the instruction set and the tile, in the order of a point.
_FREE = ("unroll", "block_m", "block_n", "block_k", "threads_m", "threads_n", "threads_k", "pack_a", "pack_b",
         "parallel", "blocks", "inner", "prefetch", "prefetch_tiles_n", "pieces")  # fmt: skip


@lru_cache(KEPT_SPACES)
def cpu_space(problem: GemmProblem, spec: DeviceSpec) -> Space[CpuConfig]:
    """Enumerate and sample legal configurations; deterministic, and including the default.

    Raises:
        Refused: the problem or the CPU is refused.
    """
    on = check_cpu_problem(problem, spec)
    ranges = ranges_of(on, spec.cores or 1)
    configs = (default_cpu_config(problem, spec), *alternative_cpu_configs(problem, spec))
    default, *others = (point_of(on, config) for config in configs)
    rng = np.random.default_rng(_SEED)
    tiles = _tiles(on, default, {config.strategy.isa for config in configs})
    points = {default: None, **dict.fromkeys(others)}
    for number, base in enumerate((default, *others), 1):
        near = (_legal(on, ranges, point) for point in _pairs(ranges, base, tiles, rng))
        _fill(points, number * MOST_PAIRS, near)
    most = len(configs) * MOST_PAIRS + MOST_DRAWN
    _fill(points, most, (_legal(on, ranges, point) for point in _drawn(ranges, tiles, rng)))
    return _space(on, list(points))


def _fill(points: dict[CpuPoint, None], most: int, found: Iterator[CpuPoint | None]) -> None:
    """Add points until there are more than `most`."""
    for point in found:
        if len(points) > most:
            break
        if point is not None:
            points[point] = None


def _legal(on: CpuProblem, ranges: CpuRanges, point: CpuPoint) -> CpuPoint | None:
    """Return a point if it is legal and useful, with no more pieces than its tiles and threads allow, and without
    prefetches of no use.
    """
    point = with_used_prefetch(on, point)
    whole = point._replace(pieces=1)
    if says_nothing(on, whole):
        return None
    config = config_of(on, whole)
    if refusal_on_cpu(on, config) is not None:
        return None
    most = most_pieces(Plan(on.problem, config, on.flags))
    return point._replace(pieces=max(count for count in ranges.pieces if count <= min(most, point.pieces)))


def _tiles(on: CpuProblem, default: CpuPoint, first: Collection[Isa]) -> list[tuple[str, int, int]]:
    """Return instruction sets with their best register tiles, those of the default first; more of those `first`."""
    found, on = [(default.isa, default.tile_m, default.tile_n)], as_batch(on)
    for isa in on.isas:
        packed = default._replace(isa=isa.value, unroll=1, threads_m=1, threads_n=1, threads_k=1)
        best = best_tiles(
            on, packed._replace(block_m=0, block_n=0, block_k=0, prefetch=0, prefetch_tiles_n=0, pieces=1)
        )
        few = _GOOD_TILES if isa in first else _GOOD_TILES // 4
        found += [(isa.value, tile.m, tile.n) for tile in best[:few]]
    return list(dict.fromkeys(found))


def _pairs(
    ranges: CpuRanges, default: CpuPoint, tiles: list[tuple[str, int, int]], rng: np.random.Generator
) -> Iterator[CpuPoint]:
    """Yield points that deviate from the default in one choice, then in two, a tile being one choice."""
    singles = [
        *({"isa": isa, "tile_m": m, "tile_n": n} for isa, m, n in tiles),
        *({axis: value} for axis in _FREE for value in getattr(ranges, axis) if value != getattr(default, axis)),
    ]
    yield from (default._replace(**change) for change in singles)
    both = [(a, b) for a, b in combinations(singles, 2) if not a.keys() & b.keys()]
    for which in rng.permutation(len(both)):
        a, b = both[int(which)]
        yield default._replace(**a, **b)


def _drawn(ranges: CpuRanges, tiles: list[tuple[str, int, int]], rng: np.random.Generator) -> Iterator[CpuPoint]:
    """Yield points with every axis sampled; stop after a few times as many as there is room for."""
    count = 8 * MOST_DRAWN
    which = rng.integers(len(tiles), size=count).tolist()
    free: list[list[Value]] = []
    for axis in _FREE:
        values: tuple[Value, ...] = getattr(ranges, axis)
        free.append([values[place] for place in rng.integers(len(values), size=count).tolist()])
    for tile, *others in zip(which, *free, strict=True):
        yield CpuPoint._make((*tiles[tile], *others))


_PARAMETERS = {
    "tile_m": "innermost_m",
    "tile_n": "innermost_n",
    "unroll": "innermost_k_steps",
    "parallel": "loop_order_p",
    "blocks": "loop_order_o",
    "inner": "loop_order_i",
    "prefetch": "prefetch_distance",
}
"""Names of the axes in a search, those of the configuration, where a point's field has another name."""


def _space(on: CpuProblem, points: list[CpuPoint]) -> Space[CpuConfig]:
    """Return the points on axes of the values that occur; an axis with one value is dropped."""
    whole = ranges_of(on, on.spec.cores or 1)
    used = {name: {getattr(point, name) for point in points} for name in CpuPoint._fields}
    axes = tuple(
        Axis(name, tuple(value for value in getattr(whole, name) if value in used[name])) for name in CpuPoint._fields
    )
    several = tuple(axis for axis in axes if len(axis.values) > 1)
    fixed: dict[str, Value] = {axis.name: axis.values[0] for axis in axes if len(axis.values) == 1}
    ranks = [[axis.values.index(getattr(point, axis.name)) for axis in several] for point in points]
    return Space(
        tuple(Axis(_PARAMETERS.get(axis.name, axis.name), axis.values) for axis in several),
        np.array(ranks, dtype=np.int16).reshape(len(points), len(several)),
        lambda config: tuple(getattr(point_of(on, config), axis.name) for axis in several),
        lambda values: config_of(on, _point(fixed | dict(zip((a.name for a in several), values, strict=True)))),
    )


def _point(values: dict[str, Value]) -> CpuPoint:
    return CpuPoint._make(values[name] for name in CpuPoint._fields)
