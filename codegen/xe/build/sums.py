"""The last kernel of a reduction: adds the contributions of the tiles of C in a fixed order."""

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from codegen.problem.epilogue import Axis
from codegen.xe.build.matrices import Matrix
from codegen.xe.build.writer import Writer
from codegen.xe.dialects import gpu
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import WgMap
from codegen.xe.dialects.xetile import (
    LoadTileOp,
    StoreTileOp,
)

SUM_LENGTH = 32
"""Sums computed by one work-group, which is one sub-group."""


def sum_partials(w: Writer, axis: Axis | None, partials: Matrix, result: Matrix, batch: Index) -> None:
    """Write the sum of the partial sums, one per row or column; x counts blocks of `SUM_LENGTH`."""
    by_row = axis is Axis.ROW
    shape = (SUM_LENGTH, 1) if by_row else (1, SUM_LENGTH)
    alone = WgMap.of((1, 1), shape)
    start = w.mul(w.insert(gpu.BlockIdOp(gpu.Dimension.X)).result, SUM_LENGTH)
    count = partials.columns if by_row else partials.rows

    def body(w: Writer, number: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        at = (start, number) if by_row else (number, start)
        part = w.insert(LoadTileOp(partials.at(w, batch, *at, shape, alone))).value
        return [w.insert(arith.AddfOp(carried[0], part)).result]

    (total,) = w.loop(0, count, 1, [w.splat(shape, f32, 0)], body, "tile")
    at = (start, 0) if by_row else (0, start)
    w.insert(StoreTileOp(total, result.at(w, batch, *at, shape, alone)))
