"""Loads of 8-bit A stored by columns: pairs of rows of K, by messages that transpose words of four columns.

DPAS takes neighbours in K as one word of a lane. Two messages each read every other row, as matrices of twice
the pitch, so that a lane has both rows of a pair; bytes are then exchanged within words, not between lanes.
"""

from dataclasses import replace

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects import vector as xvector
from xdsl.dialects.builtin import DenseArrayBase, VectorType, i8, i16, i32, i64
from xdsl.ir import SSAValue

from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream.xevm import (
    BlockLoad2dOp,
    LoadCacheControlAttr,
)
from codegen.xe.layout import (
    BlockMessage,
    Transfer,
)
from codegen.xe.layout.messages import LANES
from codegen.xe.passes.lanes.analysis.legality import assumed
from codegen.xe.passes.lanes.emitter import Emitter
from codegen.xe.passes.lanes.lowering import Lowering
from codegen.xe.passes.lanes.memory.addresses import Messages
from codegen.xe.passes.lanes.memory.messages import Piece
from codegen.xe.passes.lanes.memory.surfaces import MatrixAccess
from codegen.xe.passes.lanes.values import Lanes
from codegen.xe.passes.lanes.vectors.layout import (
    LaneLayout,
    column_pairs,
)

_MESSAGE = BlockMessage(Transfer.TRANSPOSED, 32, LANES, 8, 1)
_WORDS = 8
_ROWS, _COLUMNS = 2 * LANES, 4 * _WORDS
_TOGETHER = 8  # columns of a chunk
_LOW, _HIGH = 0x00FF00FF, 0xFF00FF00


def are_columns_of_bytes(shape: Ints, bits: int, wanted: LaneLayout) -> bool:
    """True if a block is transposed 8-bit A, in messages of which the last may reach beyond its columns."""
    rows, columns = shape
    if bits != 8 or rows % _ROWS or columns % _TOGETHER:
        return False
    names = np.arange(rows * columns).reshape(rows, columns).T.reshape(-1)
    return np.array_equal(wanted.places, column_pairs(columns, rows).relabelled(names).places)


def halves_of(lowering: Lowering, matrix: MatrixAccess) -> tuple[MatrixAccess, MatrixAccess] | None:
    """Return the matrices of the even and of the odd rows; None if messages may not access them.

    Odd rows are beside even ones, on a surface that begins with the matrix: messages need aligned surfaces, and the
    pitch of a matrix may be less than that. A matrix of one row has no odd rows, but messages need a surface of at
    least one: its own, accessed below its end.
    """
    emitter, height = lowering.emitter, matrix.height
    if (
        height is None
        or matrix.width is None
        or matrix.local
        or any(factor % 2 for factor in lowering.sums.of(matrix.row).values())
    ):
        return None
    even = replace(
        matrix,
        height=_half(emitter, emitter.sum(height, 1)),
        pitch=emitter.product(matrix.pitch, 2),
        row=_half(emitter, matrix.row),
    )
    odd_rows = _half(emitter, height)
    any_odd = _at_most_one(emitter, odd_rows)
    below = emitter.sum(1, emitter.product(any_odd, -1))
    odd = replace(even, height=emitter.sum(odd_rows, below), row=emitter.sum(even.row, below))
    for half in (even, _beside(emitter, odd, matrix.pitch)):
        assumptions = assumed(half, 8, lowering.limits, lowering.sums)
        if assumptions is None:
            return None
        lowering.assumed.update(assumptions)
    return even, _beside(emitter, odd, emitter.product(matrix.pitch, any_odd))


def _beside(emitter: Emitter, matrix: MatrixAccess, columns: Index) -> MatrixAccess:
    """Return the matrix that begins so many columns later in each row, of a surface that begins where it did."""
    assert matrix.width is not None
    return replace(matrix, width=emitter.sum(matrix.width, columns), column=emitter.sum(matrix.column, columns))


def _half(emitter: Emitter, value: Index) -> Index:
    if isinstance(value, SSAValue):
        return emitter.value(arith.ShRSIOp(value, emitter.index(1)))
    return value // 2


def _at_most_one(emitter: Emitter, value: Index) -> Index:
    if isinstance(value, SSAValue):
        return emitter.value(arith.MinSIOp(value, emitter.index(1)))
    return min(value, 1)


def load_columns(
    emitter: Emitter,
    halves: tuple[MatrixAccess, MatrixAccess],
    type_: VectorType,
    wanted: LaneLayout,
    cache: LoadCacheControlAttr | None,
) -> Lanes:
    """Load the block in the layout of a transposed DPAS operand."""
    rows, columns = type_.get_shape()
    messages = [Messages(emitter, half, 8) for half in halves]
    chunks: list[SSAValue] = []
    for row in range(0, rows // 2, LANES):
        for column in range(0, columns, _COLUMNS):
            piece = Piece(row, column, _MESSAGE, 8)
            words = VectorType(i32, [_WORDS])
            even, odd = (emitter.value(BlockLoad2dOp(m.place(piece), piece.spelled, words, cache)) for m in messages)
            chunks += _pairs(emitter, even, odd)[: (columns - column) // _TOGETHER]
    return Lanes(type_, wanted, tuple(chunks))


def _pairs(emitter: Emitter, even: SSAValue, odd: SSAValue) -> list[SSAValue]:
    """Interleave words of four columns each to chunks of eight columns, with bytes alternating between two rows."""

    def number(value: int) -> SSAValue:
        return emitter.splat(emitter.constant(value, i32), _WORDS)

    def mixed(one: SSAValue, other: SSAValue) -> SSAValue:
        low, high = arith.AndIOp(one, number(_LOW)), arith.AndIOp(other, number(_HIGH))
        return emitter.bitcast(emitter.value(arith.OrIOp(emitter.value(low), emitter.value(high))), i16)

    byte = number(8)
    # Columns 0 and 2 of each word; columns 1 and 3.
    first = mixed(even, emitter.value(arith.ShLIOp(odd, byte)))
    second = mixed(emitter.value(arith.ShRUIOp(even, byte)), odd)
    out: list[SSAValue] = []
    for at in range(0, 2 * _WORDS, 4):
        mask = [number for i in range(at, at + 4) for number in (i, 2 * _WORDS + i)]
        shuffle = xvector.ShuffleOp(
            first, second, DenseArrayBase.from_list(i64, mask), result_type=VectorType(i16, [len(mask)])
        )
        out.append(emitter.bitcast(emitter.value(shuffle), i8))
    return out
