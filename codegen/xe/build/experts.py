"""The tiles of all experts, dealt to work-groups: each finds its own from the offsets in memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.dialects.memref import LoadOp
from xdsl.ir import SSAValue

from codegen.config.xe import XeConfig
from codegen.xe.build.matrices import Matrix
from codegen.xe.build.writer import Writer
from codegen.xe.dialects import gpu
from codegen.xe.dialects.index_list import Index, index
from codegen.xe.dialects.upstream.arith_casts import IndexCastOp
from codegen.xe.dialects.upstream.arith_ops import SelectOp
from codegen.xe.rules.sizes import EXPERTS_AT_ONCE

PerTile = Callable[[Writer, Index, Index, Index, Index], None]
"""Writes a tile of an expert, which begins at a row and a column; the expert's rows end at the last argument."""


@dataclass(frozen=True, slots=True)
class ExpertTiles:
    """Tiles of `experts`, whose rows the offsets in memory give, and the work-groups over them."""

    offsets: Matrix
    experts: int
    n: Index
    config: XeConfig

    def for_each(self, w: Writer, body: PerTile) -> None:
        """Write `body` for each tile of the work-group.

        Tiles are numbered expert by expert, row by row, or column by column where the raster walks along M. A
        work-group computes every one whose number is its own plus a multiple of the work-groups. `next` is that of
        its next tile, counted from the first of the experts at hand.
        """
        number = w.insert(gpu.BlockIdOp(gpu.Dimension.X)).result
        number.name_hint = "next"

        def some(w: Writer, expert: SSAValue, carried: Sequence[SSAValue]) -> list[SSAValue]:
            return self._some(w, expert, carried, body)

        w.loop(0, self.experts, EXPERTS_AT_ONCE, [number, self._offset(w, 0)], some, "expert")

    def _some(self, w: Writer, first: SSAValue, carried: Sequence[SSAValue], body: PerTile) -> list[SSAValue]:
        """Write the tiles of EXPERTS_AT_ONCE experts, none if the next tile lies beyond them: their offsets are loaded
        together, where one by one each would wait for the one before.
        """
        number, begin = carried
        ends = [self._offset(w, w.add(first, place)) for place in range(1, EXPERTS_AT_ONCE + 1)]
        down: Index = 0
        for start, end in pairwise([begin, *ends]):
            down = w.add(down, self._rows_of_tiles(w, start, end))
        tiles = w.mul(down, self._across(w))
        has_tiles = w.less(number, tiles)
        end = w.insert(SelectOp(has_tiles, w.value(w.add(first, EXPERTS_AT_ONCE)), first)).results[0]
        passed = w.insert(SelectOp(has_tiles, w.value(0), w.value(tiles))).results[0]

        def of_expert(w: Writer, expert: SSAValue, carried: Sequence[SSAValue]) -> list[SSAValue]:
            return self._one(w, expert, carried, body)

        after, _ = w.loop(first, end, 1, [number, begin], of_expert, "expert")
        return [w.value(w.sub(after, passed)), ends[-1]]

    def _one(self, w: Writer, expert: SSAValue, carried: Sequence[SSAValue], body: PerTile) -> list[SSAValue]:
        (number, begin), block, threads = carried, self.config.matmul.block, self.config.matmul.threads
        groups, across, end = threads.m * threads.n, self._across(w), self._offset(w, w.add(expert, 1))
        down = self._rows_of_tiles(w, begin, end)
        tiles = w.mul(down, across)

        def tile(w: Writer, at: SSAValue, _: object) -> list[SSAValue]:
            along_n = self.config.matmul.loop_order.walks_along_n
            row, column = (w.div(at, across), w.rem(at, across)) if along_n else (w.rem(at, down), w.div(at, down))
            body(w, expert, w.add(begin, w.mul(row, block.m)), w.mul(column, block.n), end)
            return [w.value(w.add(at, groups))]

        (after,) = w.loop(number, tiles, groups, [number], tile, "tile")
        return [w.value(w.sub(after, tiles)), end]

    def _rows_of_tiles(self, w: Writer, begin: SSAValue, end: SSAValue) -> Index:
        return w.ceil_div(w.sub(end, begin), self.config.matmul.block.m)

    def _across(self, w: Writer) -> Index:
        return w.ceil_div(self.n, self.config.matmul.block.n)

    def _offset(self, w: Writer, expert: Index) -> SSAValue:
        """Return the first row of an expert; beyond the last one the end of its rows."""
        assert self.offsets.memory is not None
        at = expert if self.experts % EXPERTS_AT_ONCE == 0 else w.minimum(expert, self.experts)
        stored = w.insert(LoadOp.get(self.offsets.memory, [w.value(0), w.value(at)])).res
        return w.insert(IndexCastOp(stored, index)).result
