"""Covers of tiles by the fewest 2-D block messages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from codegen.xe.layout.limits import BlockLimits
from codegen.xe.layout.messages import (
    LANES,
    MESSAGES,
    BlockMessage,
    Transfer,
)

Form = tuple[Transfer, int, int]
"""Transfer, element bits and block width of a message."""

Extent = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PlacedMessage:
    """A message at a row and a column of the stored matrix, in elements of the matrix."""

    row: int
    column: int
    message: BlockMessage


def messages_of(forms: Sequence[Form], limits: BlockLimits) -> tuple[BlockMessage, ...]:
    """Return the messages of some forms that a device allows, those of the first form first."""
    return tuple(
        message
        for form in forms
        for message in MESSAGES
        # A partly filled register cannot belong to an operand.
        if form_of(message) == form and limits.allow(message) and message.rows * message.width >= LANES
    )


def form_of(message: BlockMessage) -> Form:
    """Return the form of a message."""
    return message.transfer, message.bits, message.width


def extent_of(message: BlockMessage, element_bits: int) -> Extent:
    """Return the rows and columns that a message covers, in elements of the matrix."""
    return message.rows, message.row_bytes * 8 // element_bits


def cover(
    rows: int, cols: int, element_bits: int, messages: Sequence[BlockMessage], *, overhang: bool = False
) -> tuple[PlacedMessage, ...] | None:
    """Return the fewest messages that cover rows x cols exactly once; None if none do.

    Among equal numbers, those of the first message's form are preferred, then the widest. Messages of
    different heights and widths may be combined. With `overhang` they may extend beyond the tile, by less
    than the smallest of them.
    """
    at_extent: dict[Extent, BlockMessage] = {}
    for message in messages:
        at_extent.setdefault(extent_of(message, element_bits), message)
    if overhang and at_extent:
        least_rows, least_columns = (min(extents) for extents in zip(*at_extent, strict=True))
        rows, cols = _whole(rows, least_rows), _whole(cols, least_columns)
    found = list(_grids(rows, cols, at_extent))
    return min(found, key=lambda grid: _cost(grid, messages[0])) if found else None


def cut(extent: int, sizes: Sequence[int]) -> list[tuple[int, int]] | None:
    """Return offset and size of each part of an extent, the largest sizes first; None if they do not add up to it."""
    parts: list[tuple[int, int]] = []
    first = 0
    for size in sorted(sizes, reverse=True):
        while extent - first >= size:
            parts.append((first, size))
            first += size
    return parts if first == extent else None


def _whole(extent: int, unit: int) -> int:
    return -(-extent // unit) * unit


def _grids(rows: int, cols: int, at_extent: Mapping[Extent, BlockMessage]) -> Iterator[tuple[PlacedMessage, ...]]:
    """Yield covers by rows and columns of messages, one for each maximal height and width."""
    heights, widths = sorted({r for r, _ in at_extent}), sorted({c for _, c in at_extent})
    for tallest in range(len(heights), 0, -1):
        for widest in range(len(widths), 0, -1):
            down, across = cut(rows, heights[:tallest]), cut(cols, widths[:widest])
            if not down or not across or any((r, c) not in at_extent for _, r in down for _, c in across):
                continue
            yield tuple(PlacedMessage(row, col, at_extent[r, c]) for row, r in down for col, c in across)


def _cost(grid: Sequence[PlacedMessage], preferred: BlockMessage) -> tuple[int, int, int]:
    """Return the number of messages, the bytes not in the preferred form, which must be moved, and minus the widest."""
    placed = [p.message for p in grid]
    moved = sum(m.rows * m.row_bytes for m in placed if form_of(m) != form_of(preferred))
    return len(grid), moved, -max(m.row_bytes for m in placed)
