"""The space of a problem on an Xe device: ranges from its facts, membership from the rules of codegen.

The product of all axes is far too large to enumerate. The space holds the legal tiles with plain strategies;
for a few good tiles, all strategies that deviate from the default's in one or two choices; and a sample of
those that deviate in more.
"""

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache, partial
from itertools import islice
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen import GemmProblem, LoopOrder, Refused, XeConfig
from codegen.xe.rules import check_problem
from codegen.xe.rules.case import Problem
from hal import DeviceSpec
from tuner.space.space import (
    KEPT_SPACES,
    Axis,
    Space,
)
from tuner.space.values import Value
from tuner.space.xe.axes import (
    PARAMETERS,
    Point,
    Ranges,
    ranges_of,
)
from tuner.space.xe.heuristic import (
    best_tiles,
    default_config,
    default_of,
    facts_alone,
    rates_of,
    ways_of,
    with_defaults,
)
from tuner.space.xe.points import (
    config_of,
    point_of,
)
from tuner.space.xe.strategies import (
    deviations,
    drawn_deviation,
    families_of,
    is_worth_a_place,
)
from tuner.space.xe.tiles import (
    is_legal,
    legal_tiles,
)

MOST_PLAIN = 30_000
"""Number of points of plain strategies; if there are more, all tiles are kept, with sampled distances and rasters."""
MOST_PAIRS = 9_000
"""Number of points that deviate in one or two choices on good tiles; below it, another tile is added."""
MOST_DRAWN = 6_000
"""Number of points that deviate in several choices."""

_SPREAD = 128  # number of good tiles to sample from
_DRAWS = 2  # per sampled point that the space has room for
_LEAST, _A_TILE = 3_000, 8  # points of either kind: minimum, and per legal tile if these are few
_SEED = 20  # seed of the sample: the space is deterministic
_BUILDING = Lock()  # jobs of many equal devices begin together: one of them builds the space


def xe_space(problem: GemmProblem, spec: DeviceSpec) -> Space[XeConfig]:
    """Enumerate and sample legal configurations; deterministic, and including the default.

    Devices of equal facts share it, whatever their ids and drivers. Thread-safe.

    Raises:
        Refused: the problem or the device is refused, or no configuration is legal.
    """
    with _BUILDING:
        return _kept_space(problem, facts_alone(spec))


@lru_cache(KEPT_SPACES)
def _kept_space(problem: GemmProblem, spec: DeviceSpec) -> Space[XeConfig]:
    return build_space(problem, spec)


def build_space(problem: GemmProblem, spec: DeviceSpec) -> Space[XeConfig]:
    """Build the space that `xe_space` keeps."""
    ways = ways_of(check_problem(problem, spec))
    of_way = [(on, ranges_of(on)) for on in ways]
    every = _merged([ranges for _, ranges in of_way])
    default, rng = point_of(problem, default_config(problem, spec)), np.random.default_rng(_SEED)
    ranks: list[NDArray[np.int16]] = []
    for on, ranges in of_way:
        tiles = list(legal_tiles(on, ranges))
        if not tiles:
            continue
        start = default if default.workspace in ranges.workspace else default_of(on).point
        deviating = list(_deviating(on, ranges, start, max(_LEAST, _A_TILE * len(tiles)), rng, len(of_way)))
        ranks += [_ranks(every, deviating), _plain(on, ranges, every, tiles, rng, len(of_way))]
    if not ranks:
        raise Refused("no-configuration", f"no configuration of {problem} is legal on {spec.name}")
    axes, points = _offered(every, np.vstack(ranks))
    return Space(
        axes, points, lambda config: point_of(problem, config), lambda values: config_of(problem, Point._make(values))
    )


def _merged(of_way: list[Ranges]) -> Ranges:
    """Return the values of all ranges on each axis, in their natural order."""
    return Ranges(*(_values(axis) for axis in zip(*of_way, strict=True)))


def _values(axes: tuple[tuple[Any, ...], ...]) -> tuple[Any, ...]:
    values = dict.fromkeys(value for values in axes for value in values)
    return tuple(values) if any(isinstance(value, str) for value in values) else tuple(sorted(values))


def _deviating(
    on: Problem, ranges: Ranges, default: Point, most: int, rng: np.random.Generator, ways: int
) -> Iterator[Point]:
    """Yield points that deviate from the default's strategy on good tiles: in one or two choices, then in several.

    About `most` of either kind at most, and with several `ways` a share of the space; those that deviate from the
    default itself are always included.
    """
    rates, _ = rates_of(on)
    ranked = best_tiles(on, ranges, rates)
    good = [default, *with_defaults(on, ranges, _one_a_block(ranked)[:_SPREAD], rates)]
    families = [families_of(on, ranges, point) for point in good]
    # Different changes make equal points.
    legal = cache(partial(is_legal, on))
    made = 0
    for point, of_point in zip(good, families, strict=True):
        pairs = [point, *deviations(on, ranges, legal, point, of_point)]
        yield from pairs
        made += len(pairs)
        if made >= min(most, MOST_PAIRS // ways):
            break
    # Better tiles are sampled more often.
    which = (len(good) * rng.random(min(most, MOST_DRAWN // ways) * _DRAWS) ** 2).astype(np.int64)
    chances = rng.random((len(which), 2, len(families[0]))).tolist()
    drawn = (
        drawn_deviation(on, ranges, legal, good[tile], families[tile], chance)
        for tile, chance in zip(which.tolist(), chances, strict=True)
    )
    yield from islice((point for point in drawn if point is not None), MOST_DRAWN // ways)


def _one_a_block(ranked: Iterable[Point]) -> list[Point]:
    """Return the best sub-groups of each block of C, then the second best of each, and so on."""
    of_block: dict[tuple[int, int], int] = {}
    places: list[tuple[int, Point]] = []
    for point in ranked:
        block = point.block_m, point.block_n
        places.append((of_block.get(block, 0), point))
        of_block[block] = places[-1][0] + 1
    return [point for _, point in sorted(places, key=lambda place: place[0])]


def _plain(
    on: Problem, ranges: Ranges, every: Ranges, tiles: list[Point], rng: np.random.Generator, ways: int
) -> NDArray[np.int16]:
    """Return ranks, among all values, of the tiles with every prefetch distance and both rasters: all of them, or each
    tile and a sample.
    """
    order = every.order.index(LoopOrder.N_OUTER.value)
    distances = np.array([every.prefetch.index(value) for value in ranges.prefetch])
    # Rules depend only on the K step here: strategies legal for one tile are legal for all with the same K step.
    one_of = {tile.block_k: tile for tile in tiles}
    legal = {k: [is_legal(on, tile._replace(prefetch=d)) for d in ranges.prefetch] for k, tile in one_of.items()}
    both = [is_worth_a_place(on, tile._replace(order=LoopOrder.N_OUTER.value)) for tile in tiles]
    which = np.array([legal[tile.block_k] for tile in tiles])[:, :, None] & np.array([(True, b) for b in both])[:, None]
    tile_of, distance, raster = np.nonzero(which)
    drawn = rng.permutation(len(tile_of))
    _, first = np.unique(tile_of[drawn], return_index=True)
    rest = np.delete(drawn, first)
    kept = np.sort(np.concatenate([drawn[first], rest[: max(0, MOST_PLAIN // ways - len(first))]]))
    ranks = _ranks(every, tiles)[tile_of[kept]]
    ranks[:, Point._fields.index("prefetch")] = distances[distance[kept]]
    ranks[:, Point._fields.index("order")] = raster[kept] * order
    return ranks


def _ranks(ranges: Ranges, points: list[Point]) -> NDArray[np.int16]:
    """Return [points, axes]: the rank of each value among those of its axis."""
    ranks = [{value: rank for rank, value in enumerate(values)} for values in ranges]
    rows = [[of_value[value] for of_value, value in zip(ranks, point, strict=True)] for point in points]
    return np.array(rows, dtype=np.int16).reshape(-1, len(ranges))


def _offered(ranges: Ranges, ranks: NDArray[np.int16]) -> tuple[tuple[Axis, ...], NDArray[np.int16]]:
    """Return axes of the values that occur, and each distinct point in ranks of those."""
    axes: list[Axis] = []
    columns: list[NDArray[np.int16]] = []
    for name, values, column in zip(Ranges._fields, ranges, ranks.T, strict=True):
        used, again = np.unique(column, return_inverse=True)
        offered: tuple[Value, ...] = tuple(values[rank] for rank in used)
        axes.append(Axis(PARAMETERS.get(name, name), offered))
        columns.append(again.astype(np.int16))
    return tuple(axes), np.unique(np.stack(columns, axis=1), axis=0)
