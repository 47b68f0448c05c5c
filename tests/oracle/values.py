"""Values of the interpreter: numbers in registers, and descriptors of memory."""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Self

import numpy as np

from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)
from tests.oracle.elements import (
    Array,
    Element,
)
from tests.oracle.memory import (
    Buffer,
    View,
)
from tests.oracle.refusal import KernelFault


class Varying(Enum):
    """A number that differs between sub-groups while the work-group is executed as a whole."""

    VALUE = "varying"


@dataclass(frozen=True, slots=True)
class BlockOf:
    """A block of a matrix: the matrix's start, sizes and strides, and the block's offsets in it.

    `start` is the byte of the buffer where the matrix starts. A matrix may have more dimensions than the block; those
    in front index it. A block that is not `checked` must lie inside the buffer.
    """

    buffer: Buffer
    element: Element
    start: int
    sizes: Ints
    strides: Ints
    offsets: Ints
    checked: bool = True

    def moved(self, by: Ints) -> Self:
        """Return the block moved by `by`; leading dimensions that `by` lacks stay."""
        steps = (0,) * (len(self.offsets) - len(by)) + by
        return replace(self, offsets=tuple(o + s for o, s in zip(self.offsets, steps, strict=True)))

    def load(self, shape: Ints, padding: Array) -> Array:
        """Load a block of this shape; padding outside the matrix."""
        starts, inside = self._places(shape)
        values = np.full(shape, padding, self.element.register)
        values[inside] = self.buffer.read(self.element, starts[inside])
        return values

    def store(self, values: Array) -> None:
        """Store a block; elements outside the matrix are dropped."""
        starts, inside = self._places(values.shape)
        self.buffer.write(self.element, starts[inside], values[inside])

    def scattered(self, shape: Ints) -> "Scattered":
        """Return the elements of a block of this shape; those outside the matrix do not exist."""
        starts, inside = self._places(shape)
        return Scattered(self.element, starts + self.buffer.address, inside)

    def _places(self, shape: Ints) -> tuple[Array, Array]:
        lead = len(self.offsets) - len(shape)
        if lead < 0:
            raise KernelFault("", f"expected a matrix of at least {len(shape)} dimensions, got {len(self.offsets)}")
        starts = np.full(shape, self.start, np.int64)
        inside = np.ones(shape, np.bool_)
        for axis, (size, stride, offset) in enumerate(zip(self.sizes, self.strides, self.offsets, strict=True)):
            extent = shape[axis - lead] if axis >= lead else 1
            index = offset + np.arange(extent, dtype=np.int64)
            index = index.reshape([-1 if a + lead == axis else 1 for a in range(len(shape))])
            starts += index * (stride * self.element.nbytes)
            if self.checked:
                inside &= (index >= 0) & (index < size)
        return starts, inside


@dataclass(frozen=True, slots=True)
class Scattered:
    """Scattered elements: the address of each, or of each chunk, and a mask of those that exist.

    With `bounds`, only elements within them exist.
    """

    element: Element
    addresses: Array
    inside: Array
    bounds: tuple[int, int] | None = None

    def moved(self, by: Array) -> Self:
        """Return the elements moved by `by` elements."""
        addresses = self.addresses + by * self.element.nbytes
        inside = np.ones(addresses.shape, np.bool_)
        if self.bounds is not None:
            low, high = self.bounds
            inside = (addresses >= low) & (addresses < high)
        return replace(self, addresses=addresses, inside=inside)

    def masked(self, mask: Array) -> Self:
        """Return the elements under a mask."""
        return replace(self, inside=self.inside & mask)


@dataclass(frozen=True, slots=True)
class MatrixDesc:
    """A matrix in shared local memory, or the part of one that starts at `origin`.

    An index has an outer part, in blocks, and an inner one, in elements; each part has its strides.
    """

    buffer: Buffer
    element: Element
    start: int
    block: Ints
    outer: Ints
    inner: Ints
    origin: Ints
    shape: Ints

    def places(self, offsets: Ints, shape: Ints) -> Array:
        """Return the start of each element of a part of this shape, in bytes of the buffer.

        Raises:
            KernelFault: the part is outside the matrix.
        """
        lead = len(offsets) - len(shape)
        extents = (1,) * lead + shape
        if any(o < 0 or o + e > n for o, e, n in zip(offsets, extents, self.shape, strict=True)):
            got = f"{format_ints(extents)} at {format_ints(offsets)}"
            raise KernelFault("", f"expected a block within {format_ints(self.shape)}, got {got}")
        full = (0,) * (len(self.origin) - len(offsets)) + offsets
        extents = (1,) * (len(self.origin) - len(shape)) + shape
        total = np.zeros(extents, np.int64)
        for axis, (origin, offset, extent) in enumerate(zip(self.origin, full, extents, strict=True)):
            index = origin + offset + np.arange(extent, dtype=np.int64)
            steps = index // self.block[axis] * self.outer[axis] + index % self.block[axis] * self.inner[axis]
            total += steps.reshape([-1 if a == axis else 1 for a in range(len(extents))])
        return (self.start + total * self.element.nbytes).reshape(shape)


@dataclass(frozen=True, slots=True)
class NamedBarrier:
    """A named barrier of the work-group, and the number of sub-groups that meet at it."""

    number: int
    participants: int


Value = Array | View | BlockOf | Scattered | MatrixDesc | NamedBarrier | Varying
