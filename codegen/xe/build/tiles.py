"""Distribution of the tiles of A, B and C over the sub-groups of a work-group."""

from dataclasses import dataclass

from codegen.config.xe import XeConfig
from codegen.problem.gemm import GemmProblem
from codegen.xe.build.prefetch import cooperative_map
from codegen.xe.dialects.maps import WgMap

Shape = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Shared:
    """The shape of a tile, and its distribution over sub-groups."""

    shape: Shape
    wg_map: WgMap

    def rows(self) -> "Shared":
        """Return the distribution of one column of the tile: a number per row."""
        (down, across), (rows, _) = self.wg_map.sg_layout, self.wg_map.sg_data
        return Shared((self.shape[0], 1), WgMap.of((down, across), (rows, 1)))

    def columns(self) -> "Shared":
        """Return the distribution of one row of the tile: a number per column."""
        (down, across), (_, columns) = self.wg_map.sg_layout, self.wg_map.sg_data
        return Shared((1, self.shape[1]), WgMap.of((down, across), (1, columns)))


@dataclass(frozen=True, slots=True)
class Tiles:
    """The tiles that a work-group multiplies in a K step, and their parts that it copies, or prefetches for a round."""

    a: Shared
    b: Shared
    c: Shared
    ahead_a: Shared
    ahead_b: Shared
    copied_a: Shared
    copied_b: Shared

    @property
    def mma_maps(self) -> tuple[WgMap, WgMap, WgMap]:
        """Return the maps of A, B and C."""
        return self.a.wg_map, self.b.wg_map, self.c.wg_map


def tiles(problem: GemmProblem, config: XeConfig, load_bytes: int) -> Tiles:
    """Return the tiles of a configuration; `load_bytes` is the width of the widest 2-D block."""
    block, layout, prefetch = config.matmul.block, config.strategy.sg_layout, config.strategy.prefetch
    a, b, c = (block.m, block.k), (block.k, block.n), (block.m, block.n)
    round_k = block.k * config.strategy.k_unroll
    widest_a, widest_b = load_bytes // problem.dtype_a.nbytes, load_bytes // problem.dtype_b.nbytes
    together = config.subgroups
    return Tiles(
        Shared(a, WgMap.of(layout, (config.sg_m, block.k))),
        Shared(b, WgMap.of(layout, (block.k, config.sg_n))),
        Shared(c, WgMap.of(layout, (config.sg_m, config.sg_n))),
        ahead_a=_dealt((block.m, round_k), prefetch.layout_a, together, widest_a, problem.transpose_a),
        ahead_b=_dealt((round_k, block.n), prefetch.layout_b, together, widest_b, problem.transpose_b),
        copied_a=_dealt(a, None, together, widest_a, problem.transpose_a),
        copied_b=_dealt(b, None, together, widest_b, problem.transpose_b),
    )


def _dealt(shape: Shape, layout: Shape | None, together: int, widest: int, by_columns: bool) -> Shared:
    """Distribute a tile by `layout`, or with as few messages along its rows (or columns) as possible."""
    if layout is not None:
        return Shared(shape, WgMap.of(layout, (shape[0] // layout[0], shape[1] // layout[1])))
    rows, columns = shape
    if not by_columns:
        return Shared(shape, cooperative_map(rows, columns, together, widest))
    stored = cooperative_map(columns, rows, together, widest)
    return Shared(shape, WgMap.of(stored.sg_layout[::-1], stored.sg_data[::-1]))
