"""The planned 2-D block messages of a block in MLIR's form, and the layout of their results."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.upstream import xevm
from codegen.xe.layout import (
    BlockLimits,
    BlockMessage,
    LayoutRefused,
    Operand,
    PlacedMessage,
    Transfer,
    plan_any_block_loads,
    plan_block_loads,
    plan_block_prefetches,
    plan_block_stores,
)
from codegen.xe.layout.messages import LANES
from codegen.xe.passes.lanes.vectors.layout import (
    LONGEST,
    NOTHING,
    LaneLayout,
    Places,
    by_row,
    canonical,
    column_pairs,
    layout_of,
    row_pairs,
)
from codegen.xe.subgroup import cached_by_size

_WORD = 32
_HALF = 8  # columns of A of 32 bits in a register


@dataclass(frozen=True, slots=True)
class Piece:
    """A message at a row and a column of a block, in elements of the block."""

    row: int
    column: int
    message: BlockMessage
    bits: int
    spelled: xevm.BlockMessage = field(init=False, compare=False)
    """The message in MLIR's form: pairs of bytes are halves, since MLIR allocates half for bytes in two blocks."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "spelled", _spelled(self.message))

    @property
    def unit(self) -> int:
        """Elements of the block per element that MLIR counts."""
        return self.spelled.bits // self.bits

    @property
    def words(self) -> int:
        """Elements of the result per lane, each of `register_bits`."""
        return self.message.rows * self.message.row_bytes * 8 // (LANES * self.register_bits)

    @property
    def register_bits(self) -> int:
        """Bits of an element of the result."""
        return _WORD if self.spelled.transform else self.spelled.bits

    def places(self) -> tuple[Places, Places]:
        """Return row and column in the block of each element of a lane, in order, [elements, 16]."""
        rows, columns = _places(self.message, self.message.bits // self.bits)
        return self.row + rows, self.column + columns


Pieces = tuple[Piece, ...]


@cached_by_size
def loads_of(rows: int, columns: int, bits: int, wanted: LaneLayout, limits: BlockLimits) -> Pieces:
    """Return messages that load a block into the wanted layout, if there are any."""
    operand = _operand(rows, columns, bits, wanted)
    if operand is None:
        return _pieces(plan_any_block_loads(rows, columns, bits, limits), bits)
    return _pieces(plan_block_loads(rows, columns, bits, operand, limits, overhang=True, in_runs=True).loads, bits)


def _operand(rows: int, columns: int, bits: int, wanted: LaneLayout) -> Operand | None:
    """Return the DPAS operand that the block is, if messages differ by operand."""
    if rows >= LANES and any(_same(wanted, layout) for layout in _by_columns(rows, columns, bits)):
        return Operand.B_TRANSPOSED
    if bits < _WORD and max(wanted.chunks) == LONGEST and _same(wanted, canonical((rows, columns))):
        return Operand.B
    pairs = {8: column_pairs, _WORD: row_pairs}.get(bits)
    return Operand.A if pairs is not None and _same(wanted, pairs(rows, columns)) else None


def _by_columns(rows: int, columns: int, bits: int) -> Iterator[LaneLayout]:
    """Yield the layouts of a block transposed by the message: as B of DPAS, and nearly as A of 32 bits."""
    yield by_row(rows, columns)
    if bits == _WORD and rows % _HALF == 0:
        yield row_pairs(columns, rows).relabelled(np.arange(rows * columns).reshape(rows, columns).T.reshape(-1))


def _same(wanted: LaneLayout, layout: LaneLayout) -> bool:
    return np.array_equal(wanted.places, layout.places)


def stores_of(rows: int, columns: int, bits: int, limits: BlockLimits) -> Pieces | None:
    """Return messages that write rows of lanes; None if no messages write just the block's columns."""
    try:
        return _pieces(plan_block_stores(rows, columns, bits, limits), bits)
    except LayoutRefused:
        return None


@cached_by_size
def prefetches_of(rows: int, columns: int, bits: int, limits: BlockLimits) -> Pieces:
    """Return messages that prefetch a block into caches."""
    return _pieces(plan_block_prefetches(rows, columns, bits, limits), bits)


@cached_by_size
def loaded_layout(pieces: Pieces, shape: tuple[int, int], chunks: Ints) -> LaneLayout:
    """Return the layout of what messages load of a block of a shape, in chunks of these lengths."""
    rows, columns = shape
    places: list[Places] = []
    for piece in pieces:
        row, column = piece.places()
        places.append(np.where((row < rows) & (column < columns), row * columns + column, NOTHING))
    return layout_of(list(np.concatenate(places)), list(chunks))


def _pieces(placed: tuple[PlacedMessage, ...], bits: int) -> Pieces:
    return tuple(Piece(p.row, p.column, p.message, bits) for p in placed)


@cache
def _spelled(m: BlockMessage) -> xevm.BlockMessage:
    transpose, transform = m.transfer is Transfer.TRANSPOSED, m.transfer is Transfer.PACKED
    halves = 2 if m.transfer is Transfer.PLAIN and m.width > LANES else 1
    return xevm.BlockMessage(
        m.bits * halves, m.rows, m.width // halves, m.array_length, transpose=transpose, transform=transform
    )


@cache
def _places(message: BlockMessage, unit: int) -> tuple[Places, Places]:
    """Return row and column in the message; one element of it is `unit` elements of the block."""
    layout = message.lane_layout()
    bases = dict(layout.bases)
    registers = _sums(bases["register"], layout.in_sizes["register"])
    rows, columns = (registers[:, None] + _sums(bases["lane"], LANES)).transpose(2, 0, 1)
    within = np.tile(np.arange(unit), len(rows))[:, None]
    return np.repeat(rows, unit, axis=0), np.repeat(columns * unit, unit, axis=0) + within


def _sums(bases: tuple[tuple[int, ...], ...], count: int) -> NDArray[np.int64]:
    """Return the image of each number below `count`, [count, 2], with its bits mapped to `bases`."""
    bits = np.arange(count)[:, None] >> np.arange(len(bases)) & 1
    return bits @ np.array(bases, np.int64).reshape(-1, 2)
