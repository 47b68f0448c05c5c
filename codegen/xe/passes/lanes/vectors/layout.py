"""Layouts of sub-group vectors: the lane and register of each element.

A vector becomes a list of per-lane vectors, its chunks. Registers are numbered across the chunks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from codegen.xe.dialects.maps import Ints
from codegen.xe.subgroup import cached_by_size, subgroup_size

NOTHING = -1
"""Marks places of lanes that hold no element."""
LONGEST = 16
"""Maximum elements of a chunk: the longest vector in SPIR-V."""

Places = NDArray[np.int64]
"""An element for each lane of each register, [registers, lanes]: its row-major number, or NOTHING."""

Choice = NDArray[np.bool_]
"""A mask of the lanes of each register, [registers, lanes], or of the lanes."""

_ROWS = 8  # chunk length: an accumulator of DPAS


@dataclass(frozen=True, slots=True, eq=False)
class LaneLayout:
    """The elements in each register and lane, and the lengths of the chunks that the registers form."""

    places: Places
    chunks: Ints
    _key: tuple[Ints, bytes] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_key", (self.chunks, self.places.tobytes()))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, LaneLayout) and self._key == other._key)

    def __hash__(self) -> int:
        return hash(self._key)

    def relabelled(self, names: Places) -> "LaneLayout":
        """Return the same layout with element e renamed to `names[e]`."""
        return LaneLayout(np.where(self.places < 0, NOTHING, names[self.places]), self.chunks)

    def split(self, parts: int) -> "LaneLayout":
        """Return the layout of the parts of elements."""
        places = np.repeat(self.places, parts, axis=0)
        part = np.tile(np.arange(parts), len(self.places))[:, None]
        return LaneLayout(np.where(places < 0, NOTHING, places * parts + part), tuple(c * parts for c in self.chunks))

    def spans(self) -> Iterator[tuple[int, int]]:
        """Yield first register and length of each chunk."""
        first = 0
        for length in self.chunks:
            yield first, length
            first += length


def joined(layout: LaneLayout, parts: int) -> LaneLayout | None:
    """Return the layout of the elements whose parts a layout has one after the other; None if it has not."""
    if parts < 1 or any(chunk % parts for chunk in layout.chunks):
        return None
    places = layout.places[::parts]
    whole = LaneLayout(np.where(places < 0, NOTHING, places // parts), tuple(c // parts for c in layout.chunks))
    return whole if whole.split(parts) == layout else None


def layout_of(places: list[Places], chunks: list[int]) -> LaneLayout:
    """Create a layout from registers, each given as the elements of its lanes."""
    return LaneLayout(np.array(places, np.int64).reshape(-1, subgroup_size()), tuple(chunks))


def pieces(extent: int, longest: int) -> list[int]:
    """Return powers of two that add up to an extent, the longest first."""
    out: list[int] = []
    while extent:
        piece = min(longest, 1 << (extent.bit_length() - 1))
        out.append(piece)
        extent -= piece
    return out


def lane_columns(first: int, columns: int) -> Places:
    """Return the column of each lane in the group of lanes at `first`; fewer columns that divide it repeat."""
    size = subgroup_size()
    lanes = np.arange(size)
    if columns < size and size % columns == 0:
        return lanes % columns
    return np.where(first + lanes < columns, first + lanes, NOTHING)


@cached_by_size
def canonical(shape: Ints, rows_of_chunk: int = _ROWS) -> LaneLayout:
    """Return the layout with column c in lane c % lanes, a register per row of each; chunks of consecutive rows."""
    rows, columns = prod(shape[:-1]), shape[-1] if shape else 1
    places: list[Places] = []
    chunks: list[int] = []
    for first in range(0, columns, subgroup_size()):
        of_lane = lane_columns(first, columns)
        places += [np.where(of_lane < 0, NOTHING, row * columns + of_lane) for row in range(rows)]
        chunks += pieces(rows, rows_of_chunk)
    return layout_of(places, chunks)


@cached_by_size
def by_row(rows: int, columns: int) -> LaneLayout:
    """Return the layout with row r in lane r % lanes, a register per column of each; chunks of consecutive columns."""
    names = np.arange(rows * columns).reshape(rows, columns).T.reshape(-1)
    return canonical((columns, rows)).relabelled(names)


@cached_by_size
def column_groups(rows: int, columns: int, each: int) -> LaneLayout:
    """Return the layout with `each` adjacent columns in a lane: A of DPAS, whose rows fill a register of the lanes."""
    places: list[Places] = []
    chunks: list[int] = []
    for first in range(0, columns, each * subgroup_size()):
        for row in range(rows):
            for part in range(each):
                column = first + each * np.arange(subgroup_size()) + part
                places.append(np.where(column < columns, row * columns + column, NOTHING))
        chunks += [each * rows_of_chunk for rows_of_chunk in pieces(rows, min(_ROWS, LONGEST // each))]
    return layout_of(places, chunks)


@cached_by_size
def columns_of_lanes(rows: int, columns: int, each: int) -> LaneLayout:
    """Return the layout with `each` adjacent columns in a lane, one after the other; chunks of rows of one column."""
    places: list[Places] = []
    chunks: list[int] = []
    for first in range(0, columns, each * subgroup_size()):
        for part in range(each):
            column = first + each * np.arange(subgroup_size()) + part
            places += [np.where(column < columns, row * columns + column, NOTHING) for row in range(rows)]
            chunks += pieces(rows, LONGEST)
    return layout_of(places, chunks)


def column_pairs(rows: int, columns: int) -> LaneLayout:
    """Return the layout with columns 2l and 2l + 1 in lane l: 8-bit A, and 8-bit blocks read as 16-bit words."""
    return column_groups(rows, columns, 2)


@cached_by_size
def row_pairs(rows: int, columns: int) -> LaneLayout:
    """Return the layout of 32-bit A: 8-column groups, two rows per register; lane l has column l % 8, row l // 8."""
    lanes = np.arange(subgroup_size())
    places: list[Places] = []
    chunks: list[int] = []
    for first in range(0, columns, 8):
        for row in range(0, rows, 2):
            of_lane = row + lanes // 8
            places.append(np.where(of_lane < rows, of_lane * columns + first + lanes % 8, NOTHING))
        chunks += pieces((rows + 1) // 2, 4)
    return layout_of(places, chunks)
