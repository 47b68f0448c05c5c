"""Which blocks of a work-group's tile each of its sub-groups holds.

Along each dimension blocks are dealt out in turn, round after round; where there are fewer blocks than sub-groups,
these wrap around and share. Source: the RFCs of the XeTile and XeGPU dialects.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from codegen.xe.layout.linear import Coordinate
from codegen.xe.layout.refusal import LayoutRefused


@dataclass(frozen=True, slots=True)
class SharedBlock:
    """A block of a tile and the sub-groups that hold it: their coordinates, and their ids."""

    origin: Coordinate
    size: Coordinate
    subgroups: tuple[Coordinate, ...]
    ids: tuple[int, ...]

    def __str__(self) -> str:
        ranges = ", ".join(f"{o}:{o + s - 1}" for o, s in zip(self.origin, self.size, strict=True))
        places = ", ".join(str(list(place)) for place in self.subgroups)
        return f"[{ranges}] | {places} | {', '.join(map(str, self.ids))}"


def linear_subgroup_id(place: Sequence[int], sg_layout: Sequence[int], order: Sequence[int] | None = None) -> int:
    """The id of the sub-group at a place of the layout; `order` names the fastest dimension first, else the last."""
    linear, stride = 0, 1
    for dim in _checked_order(order, len(sg_layout)):
        linear += place[dim] * stride
        stride *= sg_layout[dim]
    return linear


def subgroup_blocks(
    shape: Sequence[int], sg_layout: Sequence[int], sg_data: Sequence[int], order: Sequence[int] | None = None
) -> tuple[tuple[Coordinate, ...], ...]:
    """Origins of the blocks of each sub-group, by its linear id.

    Raises:
        LayoutRefused: ranks that differ, or sizes that do not divide.
    """
    counts = _block_counts(shape, sg_layout, sg_data)
    by_id: dict[int, tuple[Coordinate, ...]] = {}
    for place in product(*map(range, sg_layout)):
        along = [
            [block * size for block in (range(at, count, layout) if count >= layout else [at % count])]
            for at, count, layout, size in zip(place, counts, sg_layout, sg_data, strict=True)
        ]
        by_id[linear_subgroup_id(place, sg_layout, order)] = tuple(product(*along))
    return tuple(by_id[i] for i in range(prod(sg_layout)))


def block_owners(
    shape: Sequence[int], sg_layout: Sequence[int], sg_data: Sequence[int], order: Sequence[int] | None = None
) -> tuple[SharedBlock, ...]:
    """Each block of the tile in row-major order, with the sub-groups that hold it."""
    blocks = subgroup_blocks(shape, sg_layout, sg_data, order)
    owners: dict[Coordinate, list[Coordinate]] = {}
    for place in product(*map(range, sg_layout)):
        for origin in blocks[linear_subgroup_id(place, sg_layout, order)]:
            owners.setdefault(origin, []).append(place)
    return tuple(
        SharedBlock(
            origin,
            tuple(sg_data),
            tuple(places),
            tuple(linear_subgroup_id(place, sg_layout, order) for place in places),
        )
        for origin, places in sorted(owners.items())
    )


def _block_counts(shape: Sequence[int], sg_layout: Sequence[int], sg_data: Sequence[int]) -> list[int]:
    if not len(shape) == len(sg_layout) == len(sg_data):
        raise LayoutRefused(
            f"a tile, sg_layout and sg_data have one rank, got {list(shape)}, {list(sg_layout)} and {list(sg_data)}"
        )
    for extent, layout, data in zip(shape, sg_layout, sg_data, strict=True):
        if extent % data or (extent % (layout * data) and layout * data % extent):
            raise LayoutRefused(
                f"sg_data must divide the tile, and sg_layout x sg_data must divide it or be a multiple of it; "
                f"got {list(shape)} with sg_layout {list(sg_layout)} and sg_data {list(sg_data)}"
            )
    return [extent // data for extent, data in zip(shape, sg_data, strict=True)]


def _checked_order(order: Sequence[int] | None, rank: int) -> Sequence[int]:
    if order is None:
        return range(rank - 1, -1, -1)
    if sorted(order) != list(range(rank)):
        raise LayoutRefused(f"order must name each of {rank} dimensions once, got {list(order)}")
    return order
