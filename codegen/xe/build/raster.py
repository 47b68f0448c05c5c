"""Assignment of tiles of C to work-groups."""

from collections.abc import Callable
from dataclasses import dataclass

from codegen.config.xe import XeConfig
from codegen.problem.gemm import GemmProblem
from codegen.xe.build.writer import Writer
from codegen.xe.dialects import gpu
from codegen.xe.dialects.index_list import Index
from codegen.xe.rules.sizes import (
    is_persistent,
    tiles_of,
)

PerTile = Callable[[Writer, Index, Index], None]


@dataclass(frozen=True, slots=True)
class Grid:
    """Tiles over M and N, and the work-groups launched over them: fewer if each computes several tiles."""

    tiles: tuple[Index, Index]
    groups: tuple[Index, Index]

    @property
    def is_persistent(self) -> bool:
        """True if a work-group may compute several tiles."""
        return self.tiles != self.groups


def launched(problem: GemmProblem, config: XeConfig) -> tuple[int, int, int]:
    """Return the work-groups in x, y and z. Neighbours in x walk along N or along M; z counts batch and K splits."""
    threads, tiles = config.matmul.threads, tiles_of(problem, config)
    over_m, over_n = (min(t, most) for t, most in zip((threads.m, threads.n), tiles, strict=True))
    z = problem.batch * threads.k
    if problem.experts is not None:
        return threads.m * threads.n, 1, 1
    if config.strategy.raster_group > 1:
        # Persistent work-groups derive their place from one linear id over all work-groups of the launch.
        whole = is_persistent(problem, config)
        return threads.m * threads.n if whole else over_m * over_n, 1, z
    return (over_n, over_m, z) if config.matmul.loop_order.walks_along_n else (over_m, over_n, z)


def grid_of(w: Writer, problem: GemmProblem, config: XeConfig, m: Index, n: Index) -> Grid:
    """Return the tiles of an M x N output, and the work-groups of a configuration over them."""
    block, threads = config.matmul.block, config.matmul.threads
    tiles = w.ceil_div(m, block.m), w.ceil_div(n, block.n)
    return Grid(tiles, (threads.m, threads.n) if is_persistent(problem, config) else tiles)


def for_each_tile(w: Writer, config: XeConfig, grid: Grid, body: PerTile) -> None:
    """Write `body` for the row and column of each tile that the work-group computes, counted in tiles."""
    first = _first_tile(w, config, grid)
    if not grid.is_persistent:
        body(w, *first)
        return
    axes = (0, 1) if config.matmul.loop_order.tiles_along_n else (1, 0)

    def outer(w: Writer, at: Index, _: object) -> tuple[()]:
        def inner(w: Writer, then: Index, _: object) -> tuple[()]:
            row, column = (at, then) if axes == (0, 1) else (then, at)
            body(w, row, column)
            return ()

        w.loop(first[axes[1]], grid.tiles[axes[1]], grid.groups[axes[1]], (), inner, "tile")
        return ()

    w.loop(first[axes[0]], grid.tiles[axes[0]], grid.groups[axes[0]], (), outer, "tile")


def _first_tile(w: Writer, config: XeConfig, grid: Grid) -> tuple[Index, Index]:
    x = w.insert(gpu.BlockIdOp(gpu.Dimension.X)).result
    along_n = config.matmul.loop_order.walks_along_n
    if config.strategy.raster_group == 1:
        y = w.insert(gpu.BlockIdOp(gpu.Dimension.Y)).result
        return (y, x) if along_n else (x, y)
    down, across = grid.groups if along_n else grid.groups[::-1]
    row, column = _grouped(w, x, down, across, config.strategy.raster_group)
    return (row, column) if along_n else (column, row)


def _grouped(w: Writer, number: Index, down: Index, across: Index, group: int) -> tuple[Index, Index]:
    """Return row and column of a tile number: groups of `group` rows in sequence, each column by column."""
    of_group = w.mul(across, group)
    first = w.mul(w.div(number, of_group), group)
    height = w.minimum(w.sub(down, first), group) if not _divides(group, down) else group
    within = w.rem(number, of_group)
    return w.add(first, w.rem(within, height)), w.div(within, height)


def _divides(group: int, down: Index) -> bool:
    return isinstance(down, int) and down % group == 0
