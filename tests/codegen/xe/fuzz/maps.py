"""Random maps of a shape to sub-groups."""

from dataclasses import dataclass
from random import Random

Shape = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Map:
    """`sg_layout` and `sg_data`."""

    layout: Shape
    data: Shape

    def __str__(self) -> str:
        return f"#xetile.wg_map<sg_layout = {list(self.layout)}, sg_data = {list(self.data)}>"

    def turned(self) -> "Map":
        """Return the map of the transposed value."""
        (rows, columns), (r, c) = self.layout, self.data
        return Map((columns, rows), (c, r))

    def reduced(self, dim: int) -> "Map":
        """Return the map of the value reduced along a dimension."""
        return Map(self.layout, (1, self.data[1]) if dim == 0 else (self.data[0], 1))


def is_map_of(map_: Map, shape: Shape) -> bool:
    """Return whether the parts of a map divide a shape."""
    return all(_divides(*entry) for entry in zip(shape, map_.layout, map_.data, strict=True))


def any_map(rng: Random, shape: Shape, subgroups: int, least: Shape = (1, 1)) -> Map | None:
    """Return a map of a shape into parts that are multiples of `least`, preferably large; None if there is none."""
    maps = [
        Map((rows, subgroups // rows), (r, c))
        for rows in _divisors(subgroups)
        for r in _divisors(shape[0])
        for c in _divisors(shape[1])
        if r % least[0] == 0 and c % least[1] == 0
        if is_map_of(Map((rows, subgroups // rows), (r, c)), shape)
    ]
    if not maps:
        return None
    tiny = rng.random() < 0.15
    return rng.choices(maps, [1 if tiny else map_.data[0] * map_.data[1] for map_ in maps])[0]


def _divisors(number: int) -> list[int]:
    return [n for n in range(1, number + 1) if number % n == 0]


def _divides(extent: int, layout: int, data: int) -> bool:
    return extent % data == 0 and (extent % (layout * data) == 0 or (layout * data) % extent == 0)
