"""The tiles of all experts, dealt to work-groups: each finds its own from the offsets in memory."""

from collections.abc import Callable

from xdsl.dialects.memref import LoadOp
from xdsl.ir import SSAValue

from codegen.config.xe import XeConfig
from codegen.xe.build.matrices import Matrix
from codegen.xe.build.writer import Writer
from codegen.xe.dialects import gpu
from codegen.xe.dialects.index_list import Index, index
from codegen.xe.dialects.upstream.arith_casts import IndexCastOp

PerTile = Callable[[Writer, Index, Index, Index, Index], None]
"""Writes a tile of an expert, which begins at a row and a column; the expert's rows end at the last argument."""


def for_each_tile(w: Writer, config: XeConfig, offsets: Matrix, experts: int, n: Index, body: PerTile) -> None:
    """Write `body` for each tile of the work-group.

    Tiles are numbered expert by expert, row by row, or column by column where the raster walks along M. A work-group
    computes every one whose number is its own plus a multiple of the work-groups. `next` is that of its next tile,
    counted from the expert's first.
    """
    block, threads = config.matmul.block, config.matmul.threads
    groups, across = threads.m * threads.n, w.ceil_div(n, block.n)
    number = w.insert(gpu.BlockIdOp(gpu.Dimension.X)).result
    number.name_hint = "next"

    def of_expert(w: Writer, expert: SSAValue, carried: object) -> list[SSAValue]:
        first, begin = carried  # pyright: ignore
        end = _offset(w, offsets, w.add(expert, 1))
        down = w.ceil_div(w.sub(end, begin), block.m)
        tiles = w.mul(down, across)

        def tile(w: Writer, at: SSAValue, _: object) -> list[SSAValue]:
            along_n = config.matmul.loop_order.walks_along_n
            row, column = (w.div(at, across), w.rem(at, across)) if along_n else (w.rem(at, down), w.div(at, down))
            body(w, expert, w.add(begin, w.mul(row, block.m)), w.mul(column, block.n), end)
            return [w.value(w.add(at, groups))]

        (after,) = w.loop(first, tiles, groups, [first], tile, "tile")
        return [w.value(w.sub(after, tiles)), end]

    w.loop(0, experts, 1, [number, _offset(w, offsets, 0)], of_expert, "expert")


def _offset(w: Writer, offsets: Matrix, expert: Index) -> SSAValue:
    """Return the first row of an expert."""
    assert offsets.memory is not None
    stored = w.insert(LoadOp.get(offsets.memory, [w.value(0), w.value(expert)])).res
    return w.insert(IndexCastOp(stored, index)).result
