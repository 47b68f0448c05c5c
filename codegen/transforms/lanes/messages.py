"""Which 2-D block messages a block is read, written or prefetched with, and where they leave its elements.

Source: OpenCL extension cl_intel_subgroup_2d_block_io 1.1.0, the functions and "Restrictions".
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from codegen.dialects.xevm import BlockMessage
from codegen.transforms.lanes.divisibility import constant_part, divisor, is_given
from codegen.transforms.lanes.layout import LANES, LaneLayout, Places, by_row, canonical, pieces, row_pairs
from codegen.transforms.lanes.surfaces import MatrixAccess

_LONGEST_ROWS = 32
_STORED_ROWS = 8
_WORD = 32
_MIN_BYTES = 64
_MAX_EXTENT = 1 << 24
_PITCH_BYTES = 16
_COLUMN_BYTES = 4
_BASE_BYTES = 64


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a block at a row and a column, in elements, and its message.

    `unit`: elements of the block in one of the message's.
    """

    row: int
    column: int
    message: BlockMessage
    unit: int = 1

    @property
    def words(self) -> int:
        """Elements of the result in a lane, each of `register_bits`."""
        m = self.message
        return m.rows * m.columns * m.count * m.bits // (LANES * self.register_bits)

    @property
    def register_bits(self) -> int:
        """Bits of an element of the result: packed rows come as words."""
        return _WORD if self.message.transform else self.message.bits

    def places(self) -> tuple[Places, Places]:
        """Row and column in the piece of each element that a lane gets, in order, [elements, 16]."""
        m = self.message
        length = m.rows if m.transpose else m.columns
        flat = np.arange(m.rows * m.columns).reshape(-1, LANES)
        major, minor = np.tile(flat // length, (m.count, 1)), np.tile(flat % length, (m.count, 1))
        block = np.repeat(np.arange(m.count), len(flat))[:, None]
        rows, columns = (minor, major) if m.transpose else (major, minor + block * m.columns)
        within = np.tile(np.arange(self.unit), len(rows))[:, None]
        return np.repeat(rows, self.unit, axis=0), np.repeat(columns * self.unit, self.unit, axis=0) + within


def plain(rows: int, columns: int, bits: int) -> list[Piece]:
    """Rows of lanes; elements of 8 bits in pairs of columns.

    Pairs are read as words of 16 bits: of 8-bit elements in two blocks MLIR allocates half of the result.
    """
    if bits == 8:
        return [replace(p, column=2 * p.column, unit=2) for p in plain(rows, -(-columns // 2), 16)]
    return list(_grid(rows, columns, bits, LANES, 2 if bits == 16 else 1, _LONGEST_ROWS))


def packed(rows: int, columns: int, bits: int) -> list[Piece] | None:
    """Rows packed into words, as B has them; None if there is no such message."""
    least = 16 if bits == 16 else 32
    if bits not in (8, 16) or rows % least or columns % LANES:
        return None
    found: list[Piece] = []
    for row, height in _cut(rows, _LONGEST_ROWS):
        for column, count in _cut(columns // LANES, 2 if bits == 16 else 4):
            message = BlockMessage(bits, height, LANES, count, transform=True)
            found.append(Piece(row, column * LANES, message))
    return found


def transposed(rows: int, columns: int, bits: int) -> list[Piece] | None:
    """Lanes that hold rows, of words; None if there is no such message."""
    unit = _WORD // bits
    if bits > _WORD or rows % LANES or columns % (8 * unit):
        return None
    message = BlockMessage(_WORD, LANES, 8, transpose=True)
    return [
        Piece(row, column, message, unit) for row in range(0, rows, LANES) for column in range(0, columns, 8 * unit)
    ]


def narrow(rows: int, columns: int, bits: int) -> list[Piece] | None:
    """Two rows of 8 words in a register, as A of 32 bits has them; None if there is no such message."""
    if bits != _WORD or columns % 8 or rows % 2:
        return None
    return list(_grid(rows, columns, bits, 8, 2, _LONGEST_ROWS))


def stored(rows: int, columns: int, bits: int) -> list[Piece] | None:
    """Rows of lanes to write; None if the block has columns that no message writes alone."""
    if bits not in (8, 16, 32) or columns % LANES:
        return None
    return list(_grid(rows, columns, bits, LANES, 1, _STORED_ROWS))


def prefetched(rows: int, columns: int, bits: int) -> list[Piece]:
    """Messages that bring a block into caches; they may bring more than it."""
    width = 2 * LANES if bits == 8 else LANES
    return list(_grid(rows, columns, bits, width, 1 if bits == 32 else 2, _LONGEST_ROWS))


def loaded(rows: int, columns: int, bits: int, wanted: LaneLayout) -> list[Piece]:
    """Messages that read a block, if they can so that its elements come where they are wanted."""
    found: list[Piece] | None = None
    if _same(wanted, by_row(rows, columns)):
        found = transposed(rows, columns, bits)
    elif max(wanted.chunks) == LANES and _same(wanted, canonical((rows, columns))):
        found = packed(rows, columns, bits)
    elif _same(wanted, row_pairs(rows, columns)):
        found = narrow(rows, columns, bits)
    return plain(rows, columns, bits) if found is None else found


def _same(wanted: LaneLayout, layout: LaneLayout) -> bool:
    return np.array_equal(wanted.places, layout.places)


def _grid(rows: int, columns: int, bits: int, width: int, most: int, longest: int) -> Iterator[Piece]:
    for row, height in _cut(rows, longest):
        for group, count in _cut(-(-columns // width), most):
            yield Piece(row, group * width, BlockMessage(bits, height, width, count))


def _cut(extent: int, longest: int) -> Iterator[tuple[int, int]]:
    first = 0
    for piece in pieces(extent, longest):
        yield first, piece
        first += piece


@dataclass(frozen=True, slots=True)
class Legality:
    """Whether block messages may access a matrix; `assumed`: what they rely on that only the launch decides."""

    legal: bool
    assumed: tuple[str, ...] = ()


def legality(matrix: MatrixAccess, bits: int) -> Legality:
    """Whether block messages may access a matrix with elements of so many bits."""
    nbytes = bits // 8
    if matrix.local or bits not in (8, 16, 32) or matrix.height is None or matrix.width is None:
        return Legality(legal=False)
    pitch = matrix.width if matrix.height == 1 else matrix.pitch
    rules = (
        (matrix.width, _MIN_BYTES, _COLUMN_BYTES, "width"),
        (pitch, _MIN_BYTES, _PITCH_BYTES, "pitch"),
    )
    assumed: list[str] = []
    for value, least, multiple, what in rules:
        if isinstance(value, int):
            if value * nbytes < least or value * nbytes % multiple or value * nbytes > _MAX_EXTENT:
                return Legality(legal=False)
        else:
            assumed.append(f"{what} at least {least} bytes and a multiple of {multiple}")
    places = [(matrix.column, 1, _COLUMN_BYTES, "columns of blocks")]
    places += [(offset, stride, _BASE_BYTES, "matrices of a buffer") for offset, stride in matrix.skipped]
    for offset, stride, multiple, what in places:
        if divisor(offset) * divisor(stride) * nbytes % multiple == 0:
            continue
        fixed = constant_part(offset) * divisor(stride) * nbytes % multiple and not is_given(stride)
        if fixed or not (is_given(offset) or is_given(stride)):
            return Legality(legal=False)
        assumed.append(f"{what} at multiples of {multiple} bytes")
    return Legality(legal=True, assumed=tuple(assumed))
