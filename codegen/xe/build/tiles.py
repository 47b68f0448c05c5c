"""Distribution of the tiles of A, B and C over the sub-groups of a work-group."""

from dataclasses import dataclass
from math import gcd

from codegen.config.xe import XeConfig
from codegen.problem.epilogue import Axis, EpilogueKind
from codegen.problem.gemm import GemmProblem
from codegen.xe.build.prefetch import cooperative_map
from codegen.xe.dialects.maps import WgMap
from codegen.xe.rules.sizes import products_of_tile

Shape = tuple[int, int]

_LEAST_STORED = 16  # columns, of which lanes store one each


@dataclass(frozen=True, slots=True)
class Shared:
    """The shape of a tile, and its distribution over sub-groups; None if each sub-group has its own tile."""

    shape: Shape
    wg_map: WgMap | None

    def rows(self) -> "Shared":
        """Return the distribution of one column of the tile: a number per row."""
        shape, m = (self.shape[0], 1), self.wg_map
        return Shared(shape, None if m is None else WgMap.of(m.sg_layout, (m.sg_data[0], 1)))

    def columns(self) -> "Shared":
        """Return the distribution of one row of the tile: a number per column."""
        shape, m = (1, self.shape[1]), self.wg_map
        return Shared(shape, None if m is None else WgMap.of(m.sg_layout, (1, m.sg_data[1])))


@dataclass(frozen=True, slots=True)
class Tiles:
    """The tiles that a work-group multiplies in a K step, and their parts that it copies, or prefetches for a round.

    `sums` is the tile of a product: C's, or twice as wide where a tile of B holds columns of both products of a gate.
    Where sub-groups multiply parts of K, the tiles are those of one sub-group. `stored` is what is stored of C at once;
    `stored_b` is the tile of B as stored: weights of 4 bits are words of eight along K.
    """

    a: Shared
    b: Shared
    stored_b: Shared
    c: Shared
    sums: Shared
    stored: Shared
    ahead_a: Shared
    ahead_b: Shared
    copied_a: Shared
    copied_b: Shared

    @property
    def mma_maps(self) -> tuple[WgMap, WgMap, WgMap] | None:
        """Return the maps of A, B and their product; None at sub-group level."""
        a, b, c = self.a.wg_map, self.b.wg_map, self.sums.wg_map
        return None if a is None or b is None or c is None else (a, b, c)


def tiles(problem: GemmProblem, config: XeConfig, load_bytes: int) -> Tiles:
    """Return the tiles of a configuration; `load_bytes` is the width of the widest 2-D block."""
    block, layout, prefetch = config.matmul.block, config.strategy.sg_layout, config.strategy.prefetch
    together = products_of_tile(problem, block.n)
    block_n, sg_n = block.n * together, config.sg_n * together
    a, b, c = (block.m, block.k), (block.k, block_n), (block.m, block.n)
    round_k = block.k * config.strategy.k_unroll
    if config.strategy.k_subgroups > 1:
        return _of_subgroup(problem, config, round_k)
    widest_a, widest_b = load_bytes // problem.dtype_a.nbytes, load_bytes // problem.dtype_b.nbytes
    subgroups, packed = config.subgroups, problem.dtype_b.packed
    whole = Shared(c, WgMap.of(layout, (config.sg_m, config.sg_n)))
    return Tiles(
        Shared(a, WgMap.of(layout, (config.sg_m, block.k))),
        Shared(b, WgMap.of(layout, (block.k, sg_n))),
        Shared((block.k // packed, block_n), WgMap.of(layout, (block.k // packed, sg_n))),
        whole,
        sums=Shared((block.m, block_n), WgMap.of(layout, (config.sg_m, sg_n))),
        stored=whole,
        ahead_a=_dealt((block.m, round_k), prefetch.layout_a, subgroups, widest_a, problem.transpose_a),
        ahead_b=_dealt((round_k // packed, block_n), prefetch.layout_b, subgroups, widest_b, problem.transpose_b),
        copied_a=_dealt(a, None, subgroups, widest_a, problem.transpose_a),
        copied_b=_dealt(b, None, subgroups, widest_b, problem.transpose_b),
    )


def _of_subgroup(problem: GemmProblem, config: XeConfig, round_k: int) -> Tiles:
    """Return the tiles of one of the sub-groups that multiply parts of K; each then stores some columns of C, but all
    if the epilogue sums over rows.
    """
    block, count = config.matmul.block, config.strategy.k_subgroups
    block_n = block.n * products_of_tile(problem, block.n)
    whole_rows = any(step.kind is EpilogueKind.REDUCE and step.axis is Axis.ROW for step in problem.epilogue)
    sharing = 1 if whole_rows else max(1, gcd(block.n, count * _LEAST_STORED) // _LEAST_STORED)
    a, b = Shared((block.m, block.k), None), Shared((block.k, block_n), None)
    packed = problem.dtype_b.packed
    return Tiles(
        a,
        b,
        Shared((block.k // packed, block_n), None),
        Shared((block.m, block.n), None),
        sums=Shared((block.m, block_n), None),
        stored=Shared((block.m, block.n // sharing), None),
        ahead_a=Shared((block.m, round_k), None),
        ahead_b=Shared((round_k // packed, block_n), None),
        copied_a=a,
        copied_b=b,
    )


def _dealt(shape: Shape, layout: Shape | None, subgroups: int, widest: int, by_columns: bool) -> Shared:
    """Distribute a tile by `layout`, or with as few messages along its rows (or columns) as possible."""
    if layout is not None:
        return Shared(shape, WgMap.of(layout, (shape[0] // layout[0], shape[1] // layout[1])))
    rows, columns = shape
    if not by_columns:
        return Shared(shape, cooperative_map(rows, columns, subgroups, widest))
    stored = cooperative_map(columns, rows, subgroups, widest)
    return Shared(shape, WgMap.of(stored.sg_layout[::-1], stored.sg_data[::-1]))
