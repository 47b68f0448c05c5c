"""Enumeration of legal tiles: blocks, sub-groups and load blocks, with the simplest strategy."""

from collections.abc import Iterator
from itertools import product

from codegen import SlmOperands
from codegen.target import LARGE_GRF
from codegen.xe.rules import refusal
from codegen.xe.rules.case import (
    Case,
    Problem,
)
from codegen.xe.rules.sizes import products_of_tile
from codegen.xe.rules.tiles import (
    loads_blocks_of_a,
    loads_blocks_of_b,
)
from tuner.space.xe.axes import (
    Point,
    Ranges,
)
from tuner.space.xe.points import config_of

_K_STEP_BYTES = 64


def is_legal(on: Problem, point: Point) -> bool:
    """Return whether no rule refuses a point."""
    return refusal(on, config_of(on.problem, point)) is None


def case_of(on: Problem) -> Case:
    """Return the smallest possible tile, for rules that apply to a problem whatever the tile."""
    t = on.target
    return Case(
        on, config_of(on.problem, Point(t.dpas_m, t.dpas_n, on.dpas_k, 1, 1, t.dpas_m, on.dpas_k, t.dpas_n, LARGE_GRF))
    )


def legal_tiles(on: Problem, ranges: Ranges) -> Iterator[Point]:
    """Yield every legal tile.

    A rule depends on a work-group and its sub-groups, or on one sub-group's tile and its loads: each is checked once.
    """
    fits: dict[tuple[int, ...], bool] = {}
    (padded,) = ranges.workspace
    least = ranges.block_k[0], ranges.load_m[0], ranges.load_k[0], ranges.load_n[0]
    for m, n, rows, columns, grf in product(
        ranges.block_m, ranges.block_n, ranges.sg_rows, ranges.sg_columns, ranges.grf
    ):
        if not is_legal(on, Point(m, n, least[0], rows, columns, *least[1:], grf, workspace=padded)):
            continue
        for k, load_m, load_k, load_n in product(ranges.block_k, ranges.load_m, ranges.load_k, ranges.load_n):
            tile = Point(m, n, k, rows, columns, load_m, load_k, load_n, grf, workspace=padded)
            together = products_of_tile(on.problem, n)
            of_subgroup = (m // rows, n // columns, together, k, load_m, load_k, load_n, grf)
            if of_subgroup not in fits:
                fits[of_subgroup] = is_legal(on, tile)
            if fits[of_subgroup]:
                yield tile


def widest_tiles(on: Problem, ranges: Ranges) -> Iterator[Point]:
    """Yield for each legal block and sub-groups the tile with the largest loads, a K step of one load, and
    all registers.
    """
    k_bytes = on.problem.dtype_a.nbytes
    (padded,) = ranges.workspace
    steps = [v for v in ranges.block_k if v * k_bytes <= _K_STEP_BYTES and _divides_group(on, v)]
    k = max(steps, default=ranges.block_k[0])
    for m, n, rows, columns in product(ranges.block_m, ranges.block_n, ranges.sg_rows, ranges.sg_columns):
        if m // rows < ranges.load_m[0] or n // columns < ranges.load_n[0]:
            continue
        load_m = max(v for v in ranges.load_m if v <= max(m // rows, ranges.load_m[0]))
        columns_b = n // columns * products_of_tile(on.problem, n)
        load_n = max(v for v in ranges.load_n if v <= max(columns_b, ranges.load_n[0]))
        load_k = max(v for v in ranges.load_k if v <= k)
        tile = Point(m, n, k, rows, columns, load_m, load_k, load_n, ranges.grf[-1], workspace=padded)
        if is_legal(on, tile):
            yield tile


def _divides_group(on: Problem, k: int) -> bool:
    """Return whether K steps of this length lie in one group of scales each."""
    quantization = on.problem.quantization
    return quantization is None or quantization.group is None or quantization.group % k == 0


def settled(on: Problem, ranges: Ranges, point: Point) -> Point:
    """Return a point whose K step or staging changed, with loads that fit it: the least if they have no effect."""
    slm = SlmOperands(point.slm)
    of_a, of_b = (loads(on, slm, point.k_subgroups) for loads in (loads_blocks_of_a, loads_blocks_of_b))
    return point._replace(
        load_m=point.load_m if of_a else ranges.load_m[0],
        load_n=point.load_n if of_b else ranges.load_n[0],
        load_k=min(point.load_k, point.block_k) if of_a or of_b else ranges.load_k[0],
    )
