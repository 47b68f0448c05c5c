"""Strategies that deviate from a point in one choice, in two, or in several at random."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any

from codegen import LoopOrder, SlmOperands, SplitK
from codegen.xe.rules import ceil_div, tiles_of_blocks
from codegen.xe.rules.case import Problem
from tuner.space.xe.axes import (
    DEALT,
    Point,
    Ranges,
)
from tuner.space.xe.points import turns_of
from tuner.space.xe.tiles import (
    settled,
)

Change = Mapping[str, Any]
"""Values of some fields of a point."""

Family = Sequence[Change]
"""Alternative changes of related fields, of which a point takes one, such as the splits of K and how sums are added."""

IsLegal = Callable[[Point], bool]
"""Check that no rule refuses a point of a problem."""

_NOT_PREFETCHED: Change = {
    "prefetch_l2": 0,
    "prefetch_a": DEALT,
    "prefetch_b": DEALT,
    "prefetch_hints": 1,
    "prefetch_payloads": 0,
}
_DEVIATES = 0.3  # probability that a sampled point deviates in one family


def families_of(on: Problem, ranges: Ranges, point: Point) -> list[Family]:
    """Return the possible changes of a point, each family without the point itself."""
    r, rows = ranges, (DEALT, *(v for v in ranges.sg_rows if point.sg_rows * point.sg_columns % v == 0))
    staged = product(r.slm[1:], r.slm_stages[1:])
    # Into L1 and L2, distances that are one or two doublings apart, and L2's last.
    distances = [(near, far) for near in r.prefetch for far in r.prefetch_l2 if far == 0 or near < far <= 4 * near]
    families: list[list[dict[str, Any]]] = [
        [{"block_k": k} for k in r.block_k],
        [{"grf": grf} for grf in r.grf],
        [{"prefetch": near, "prefetch_l2": far} for near, far in distances],
        [{"prefetch_a": v} for v in r.prefetch_a if v in rows],
        [{"prefetch_b": v} for v in r.prefetch_b if v in rows],
        [{"prefetch_hints": v} for v in r.prefetch_hints],
        [{"prefetch_payloads": v} for v in r.prefetch_payloads],
        [
            {"slm": SlmOperands.NONE.value, "slm_stages": 0},
            *({"slm": slm, "slm_stages": stages} for slm, stages in staged),
        ],
        [{"barrier_every": v} for v in r.barrier_every],
        [{"pipelined": v} for v in r.pipelined],
        [{"k_unroll": v} for v in r.k_unroll],
        [{"raster_group": v} for v in r.raster_group],
        [{"order": v} for v in r.order],
        list(_turns(on, ranges, point)),
        [
            {"split_k": SplitK.NONE.value, "splits": 1},
            *({"split_k": how, "splits": many} for how, many in product(r.split_k[1:], r.splits[1:])),
        ],
        [{"k_subgroups": 1}, *({**_one_tile(point), "k_subgroups": v} for v in r.k_subgroups[1:])],
    ]
    as_it_is = point._asdict()
    return [[change for change in family if not change.items() <= as_it_is.items()] for family in families]


def deviations(
    on: Problem, ranges: Ranges, legal: IsLegal, point: Point, families: Sequence[Family]
) -> Iterator[Point]:
    """Yield the point with each change, and with each two changes of different families that are legal alone."""
    singles: list[list[Change]] = []
    for family in families:
        taken = [(change, _taken(on, ranges, legal, point, change)) for change in family]
        singles.append([change for change, new in taken if new is not None])
        yield from (new for _, new in taken if new is not None)
    for one, other in combinations(singles, 2):
        for first, second in product(one, other):
            new = _taken(on, ranges, legal, point, {**first, **second})
            if new is not None:
                yield new


def drawn_deviation(
    on: Problem,
    ranges: Ranges,
    legal: IsLegal,
    point: Point,
    families: Sequence[Family],
    chance: Sequence[Sequence[float]],
) -> Point | None:
    """Return the point with some changes; None if it is not useful. `chance` is [2, families], from 0 to 1."""
    change: dict[str, Any] = {}
    for family, deviates, place in zip(families, *chance, strict=True):
        if deviates < _DEVIATES and family:
            change.update(family[int(place * len(family))])
    return _taken(on, ranges, legal, point, change)


def is_worth_a_place(on: Problem, point: Point) -> bool:
    """Return whether every choice of a point has an effect and no other point is equivalent; rules are not applied."""
    tiles_m, tiles_n = tiles_of_blocks(on.problem, point.block_m, point.block_n)
    groups_m, groups_n = ceil_div(tiles_m, point.turns_m), ceil_div(tiles_n, point.turns_n)
    if (turns_of(tiles_m, groups_m), turns_of(tiles_n, groups_n)) != (point.turns_m, point.turns_n):
        return False
    along_m = not LoopOrder(point.order).walks_along_n
    return not ((groups_m == 1 or groups_n == 1) and (along_m or point.raster_group > 1))


def _taken(on: Problem, ranges: Ranges, legal: IsLegal, point: Point, change: Change) -> Point | None:
    """Return the point with a change, if it is legal and useful."""
    if not change.get("prefetch", point.prefetch):
        change = {**change, **_NOT_PREFETCHED}
    elif change.get("k_subgroups", point.k_subgroups) > 1:
        change = {**change, "prefetch_a": DEALT, "prefetch_b": DEALT}
    new = point._replace(**change)
    if not is_worth_a_place(on, new):
        return None
    if {"slm", "block_k", "k_subgroups"} & change.keys():
        new = settled(on, ranges, new)
    return new if legal(new) else None


def _one_tile(point: Point) -> Change:
    """Return the tile of one sub-group, for sub-groups that share it."""
    rows, columns = point.block_m // point.sg_rows, point.block_n // point.sg_columns
    return {"block_m": rows, "block_n": columns, "sg_rows": 1, "sg_columns": 1}


def _turns(on: Problem, ranges: Ranges, point: Point) -> Iterator[dict[str, Any]]:
    """Yield numbers of tiles per work-group that leave work for at least every other core, per split and matrix."""
    problem, cores = on.problem, on.spec.xe_cores or on.spec.cores or 1
    tiles_m, tiles_n = tiles_of_blocks(problem, point.block_m, point.block_n)
    for turns_m, turns_n in product(ranges.turns_m, ranges.turns_n):
        if 2 * ceil_div(tiles_m, turns_m) * ceil_div(tiles_n, turns_n) * problem.batch >= cores:
            yield {"turns_m": turns_m, "turns_n": turns_n}
