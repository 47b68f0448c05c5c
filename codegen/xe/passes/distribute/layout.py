"""Layout of a work-group value: each dimension is distributed in blocks, to sub-groups by digits of their id.

Strides in the id represent `order`, slices and dimensions of one sub-group alike, so every rule of `derive`
results in such a layout.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Self

from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)


@dataclass(frozen=True, slots=True)
class Axis:
    """One dimension: sub-group `id` owns every `count`-th block of `data` elements, from `id // stride % count` on."""

    count: int
    data: int
    stride: int = 1

    @classmethod
    def whole(cls, extent: int) -> Self:
        """Create a dimension that every sub-group owns completely."""
        return cls(1, extent)

    def owners(self, extent: int) -> int:
        """Return the number of sub-groups with different parts; those beyond wrap around and share."""
        return min(self.count, max(extent // self.data, 1))

    def rounds(self, extent: int) -> int:
        """Return the number of blocks of one sub-group."""
        return extent // (self.owners(extent) * self.data)

    def deals_out(self, extent: int) -> bool:
        """True if blocks divide the dimension, and the sub-groups' blocks divide it or are a multiple of it."""
        covered = self.count * self.data
        return extent % self.data == 0 and (extent % covered == 0 or covered % extent == 0)

    def starts(self, extent: int, subgroup: int) -> Ints:
        """Return the offsets of a sub-group's blocks, in the order of the rounds."""
        owners = self.owners(extent)
        first = subgroup // self.stride % owners
        return tuple((first + r * owners) * self.data for r in range(self.rounds(extent)))

    def settled(self, extent: int) -> Self:
        """Return the canonical form."""
        owners = self.owners(extent)
        return type(self)(owners, self.data, self.stride if owners > 1 else 1)

    def needs(self, extent: int) -> bool:
        """True if sub-groups own different parts."""
        return self.owners(extent) > 1


@dataclass(frozen=True, slots=True)
class Layout:
    """The dimensions of a value; ids count from `first`, that of the region's first sub-group."""

    axes: tuple[Axis, ...]
    first: int = 0

    @classmethod
    def of(cls, sg_layout: Ints, sg_data: Ints, order: Ints | None = None, first: int = 0) -> Self:
        """Create the layout of an attribute; the first dimension of `order` is the fastest, by default the last."""
        order = order or tuple(reversed(range(len(sg_layout))))
        strides, running = [1] * len(sg_layout), 1
        for axis in order:
            strides[axis] = running
            running *= sg_layout[axis]
        return cls(tuple(Axis(*entry) for entry in zip(sg_layout, sg_data, strides, strict=True)), first)

    @classmethod
    def whole(cls, shape: Ints) -> Self:
        """Create the layout with which every sub-group owns the whole value."""
        return cls(tuple(map(Axis.whole, shape)))

    @property
    def data(self) -> Ints:
        """Shape of one block."""
        return tuple(axis.data for axis in self.axes)

    def with_axes(self, axes: Iterator[Axis] | tuple[Axis, ...]) -> Self:
        """Return other dimensions with the same first sub-group."""
        return type(self)(tuple(axes), self.first)

    def settled(self, shape: Ints) -> Self:
        """Return the canonical form: equal if and only if the same elements are owned."""
        axes = tuple(axis.settled(extent) for axis, extent in zip(self.axes, shape, strict=True))
        return type(self)(axes, self.first if any(axis.count > 1 for axis in axes) else 0)

    def same_as(self, other: Self, shape: Ints) -> bool:
        """True if every sub-group owns the same elements in both, in the same blocks."""
        return self is other or self.settled(shape) == other.settled(shape)

    def rounds(self, shape: Ints) -> Ints:
        """Return the number of blocks of one sub-group in each dimension."""
        return tuple(axis.rounds(extent) for axis, extent in zip(self.axes, shape, strict=True))

    def blocks(self, shape: Ints) -> Iterator[Ints]:
        """Yield the rounds of each dimension for each block of a sub-group, row-major."""
        return product(*map(range, self.rounds(shape)))

    def coordinates(self, shape: Ints, subgroup: int) -> Ints:
        """Return the index of a sub-group among the owners, in each dimension."""
        subgroup -= self.first
        return tuple(
            subgroup // axis.stride % axis.owners(extent) for axis, extent in zip(self.axes, shape, strict=True)
        )

    def starts(self, shape: Ints, subgroup: int) -> Iterator[Ints]:
        """Yield the offsets of a sub-group's blocks, in order."""
        subgroup -= self.first
        return product(*(axis.starts(extent, subgroup) for axis, extent in zip(self.axes, shape, strict=True)))

    def fault(self, shape: Ints, subgroups: int) -> str | None:
        """Return why the layout cannot distribute a value of this shape over that many sub-groups; None if it can."""
        if len(self.axes) != len(shape):
            return f"a layout of {len(shape)} dimensions for {format_ints(shape)}, got one of {len(self.axes)}"
        for number, (axis, extent) in enumerate(zip(self.axes, shape, strict=True)):
            if not axis.deals_out(extent):
                return (
                    f"sg_data to divide dimension {number} of {format_ints(shape)} and sg_layout * sg_data to divide "
                    f"it or be a multiple of it, got {axis.count} * {axis.data}"
                )
        digits = [(axis.stride, axis.owners(extent)) for axis, extent in zip(self.axes, shape, strict=True)]
        owned = {tuple([subgroup // stride % owners for stride, owners in digits]) for subgroup in range(subgroups)}
        owners = prod(owners for _, owners in digits)
        if len(owned) != owners:
            return f"at least {owners} sub-groups that own different parts of {format_ints(shape)}, got {len(owned)}"
        return None

    def shares(self, shape: Ints, subgroups: int) -> bool:
        """True if some sub-groups own the same elements."""
        owners = prod(axis.owners(extent) for axis, extent in zip(self.axes, shape, strict=True))
        return owners < subgroups
