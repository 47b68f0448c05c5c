"""What each work-item of a sub-group holds of a tile, as the RFC of the XeGPU dialect deals it out."""

from dataclasses import dataclass
from itertools import product
from math import prod

from codegen.xe.layout.linear import Coordinate
from codegen.xe.layout.refusal import LayoutRefused
from codegen.xe.layout.work_items import WorkItemMap


@dataclass(frozen=True, slots=True)
class Fragment:
    """`shape`: [units, elements of a unit]. `elements`: by work-item, where in the tile each of them comes from."""

    shape: tuple[int, int]
    elements: tuple[tuple[Coordinate, ...], ...]


def distribute_to_work_items(
    shape: tuple[int, ...], wi_map: WorkItemMap, *, transpose: bool = False, array_length: int = 1
) -> Fragment:
    """Deal a tile out to work-items, unit by unit in row-major order.

    shape: [.., rows, columns] or one dimension. transpose: a load that swaps rows and columns; the map is the source's,
    the order that of the result. array_length: so many tiles side by side, one after the other.

    Raises:
        LayoutRefused: the map does not deal the shape out evenly.
    """
    wi_map = _of_rank(wi_map, len(shape))
    extents = _units(shape, wi_map)
    if transpose:
        turned = distribute_to_work_items(shape[::-1], transposed_map(wi_map))
        return Fragment(turned.shape, tuple(tuple(at[::-1] for at in held) for held in turned.elements))
    blocks = [(0,) * (len(shape) - 1) + (block * shape[-1],) for block in range(array_length)]
    units = list(product(*map(range, extents)))
    data = list(product(*map(range, wi_map.wi_data)))
    held: list[tuple[Coordinate, ...]] = []
    for item in product(*map(range, wi_map.wi_layout)):
        places = (
            tuple(
                b + (u * layout + i) * size + d
                for b, u, layout, i, size, d in zip(
                    block, unit, wi_map.wi_layout, item, wi_map.wi_data, part, strict=True
                )
            )
            for block in blocks
            for unit in units
            for part in data
        )
        held.append(tuple(places))
    return Fragment((array_length * len(units), len(data)), tuple(held))


def transposed_map(wi_map: WorkItemMap) -> WorkItemMap:
    """The map of a transposed matrix."""
    return WorkItemMap(wi_map.wi_layout[::-1], wi_map.wi_data[::-1])


def bitcast_map(wi_map: WorkItemMap, from_bits: int, to_bits: int) -> WorkItemMap:
    """The map of a matrix whose rows are taken as elements of other bits: each unit keeps its bits.

    Raises:
        LayoutRefused: a unit has no whole number of the new elements.
    """
    bits = wi_map.wi_data[-1] * from_bits
    if bits % to_bits or prod(wi_map.wi_data[:-1]) > 1:
        raise LayoutRefused(f"units of {wi_map} of {from_bits} bits cannot be taken as elements of {to_bits} bits")
    return WorkItemMap(wi_map.wi_layout, (*wi_map.wi_data[:-1], bits // to_bits))


def _of_rank(wi_map: WorkItemMap, rank: int) -> WorkItemMap:
    """The map with as many dimensions as the tile: leading ones are added, or dropped where they are 1."""
    extra = len(wi_map.wi_layout) - rank
    if extra <= 0:
        ones = (1,) * -extra
        return WorkItemMap(ones + wi_map.wi_layout, ones + wi_map.wi_data)
    if max((*wi_map.wi_layout[:extra], *wi_map.wi_data[:extra])) > 1:
        raise LayoutRefused(f"a map of {rank} dimensions has 1 in those before, got {wi_map}")
    return WorkItemMap(wi_map.wi_layout[extra:], wi_map.wi_data[extra:])


def _units(shape: tuple[int, ...], wi_map: WorkItemMap) -> tuple[int, ...]:
    """Units of each work-item along each dimension."""
    steps = [layout * data for layout, data in zip(wi_map.wi_layout, wi_map.wi_data, strict=True)]
    if any(extent % step for extent, step in zip(shape, steps, strict=True)):
        raise LayoutRefused(f"{wi_map} deals out multiples of {steps}, got a tile of {list(shape)}")
    return tuple(extent // step for extent, step in zip(shape, steps, strict=True))
