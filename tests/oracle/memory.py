"""Memory: buffers with addresses, and memrefs as strided views of them."""

from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr, MemRefType, NoneAttr, StridedLayoutAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap

from codegen.xe.dialects.gpu import (
    AddressSpace,
    AddressSpaceAttr,
)
from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)
from codegen.xe.dialects.xegpu import (
    MemorySpace,
    MemorySpaceAttr,
)
from tests.oracle.elements import (
    Array,
    Element,
)
from tests.oracle.refusal import (
    InterpretationRefused,
    KernelFault,
)

_GLOBAL_STEP = 1 << 40  # global buffers are this far apart
_LOCAL_STEP = 1 << 24  # buffers of shared local memory: their addresses fit into 32 bits
_UNWRITTEN = 0xFF  # NaN as a float, -1 as an integer: a read of what nobody wrote shows


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """Bytes at an address."""

    address: int
    data: NDArray[np.uint8]

    def read(self, element: Element, starts: Array) -> Array:
        """Read the elements that start at these bytes."""
        index = self._indices(element, starts)
        return element.unpack(self._typed(element)[index] if index is not None else self._bytes(element, starts))

    def write(self, element: Element, starts: Array, values: Array) -> None:
        """Store elements at these bytes; of several at one place the last wins."""
        if not self.data.flags.writeable:
            raise KernelFault("", "expected stores to arrays that can be written, got one to an array that cannot")
        index = self._indices(element, starts)
        packed = element.pack(values)
        if index is not None:
            self._typed(element)[index] = packed
            return
        places = starts[..., None] + np.arange(element.nbytes)
        self.data[places] = np.ascontiguousarray(packed)[..., None].view(np.uint8)

    def _indices(self, element: Element, starts: Array) -> Array | None:
        """Return indices in the buffer as an array of elements; None if not aligned."""
        if starts.size and (starts.min() < 0 or starts.max() > len(self.data) - element.nbytes):
            raise KernelFault(
                "",
                f"expected accesses within a buffer of {len(self.data)} bytes, "
                f"got bytes {starts.min()} to {starts.max() + element.nbytes - 1}",
            )
        aligned = self.data.ctypes.data % element.nbytes == 0 and not np.any(starts % element.nbytes)
        return starts // element.nbytes if aligned else None

    def _typed(self, element: Element) -> Array:
        return self.data[: len(self.data) // element.nbytes * element.nbytes].view(element.memory)

    def _bytes(self, element: Element, starts: Array) -> Array:
        gathered = np.ascontiguousarray(self.data[starts[..., None] + np.arange(element.nbytes)])
        return gathered.view(element.memory)[..., 0]


@dataclass(slots=True)
class Memory:
    """The buffers of a launch, found by address. Those in shared local memory belong to the running work-group."""

    buffers: dict[int, Buffer] = field(default_factory=dict[int, Buffer])
    _global: int = 0
    _local: int = 0

    def add_global(self, data: NDArray[np.uint8]) -> Buffer:
        """Add a buffer in device or private memory."""
        self._global += 1
        return self._add(self._global * _GLOBAL_STEP, data)

    def add_local(self, nbytes: int) -> Buffer:
        """Add a buffer in shared local memory."""
        self._local += 1
        return self._add(self._local * _LOCAL_STEP, fresh(nbytes))

    def drop_local(self) -> None:
        """Drop shared local memory: the next work-group has its own."""
        self.buffers = {address: b for address, b in self.buffers.items() if address >= _GLOBAL_STEP}
        self._local = 0

    def find(self, address: int) -> tuple[Buffer, int]:
        """Return the buffer of an address, and the offset in it.

        Raises:
            KernelFault: no buffer has the address.
        """
        step = _GLOBAL_STEP if address >= _GLOBAL_STEP // 2 else _LOCAL_STEP
        start = (address + step // 2) // step * step  # also for what is somewhat before its buffer
        if start not in self.buffers:
            raise KernelFault("", f"expected the address of a buffer, got {address:#x}")
        return self.buffers[start], address - start

    def _add(self, address: int, data: NDArray[np.uint8]) -> Buffer:
        self.buffers[address] = Buffer(address, data)
        return self.buffers[address]


def fresh(nbytes: int) -> NDArray[np.uint8]:
    """Return uninitialised memory."""
    return np.full(nbytes, _UNWRITTEN, np.uint8)


@dataclass(frozen=True, slots=True)
class View:
    """A memref: element [i, j] lies `start` bytes and `i * strides[0] + j * strides[1]` elements into the buffer.

    `base` is the byte that its aligned pointer points to, from which its offset counts.
    """

    buffer: Buffer
    element: Element
    start: int
    shape: Ints
    strides: Ints
    base: int = 0

    @property
    def span(self) -> int:
        """Return the number of elements from the first to the last."""
        return span_of(self.shape, self.strides)

    def places(self) -> Array:
        """Return the start of each element, in bytes of the buffer."""
        total = np.zeros(self.shape, np.int64)
        for axis, (extent, stride) in enumerate(zip(self.shape, self.strides, strict=True)):
            steps = np.arange(extent, dtype=np.int64) * stride
            total += steps.reshape([-1 if a == axis else 1 for a in range(len(self.shape))])
        return self.start + total * self.element.nbytes

    def place(self, indices: Ints) -> Array:
        """Return the start of one element.

        Raises:
            KernelFault: the element is outside the shape.
        """
        if any(not 0 <= i < n for i, n in zip(indices, self.shape, strict=True)):
            raise KernelFault("", f"expected an index within {format_ints(self.shape)}, got {format_ints(indices)}")
        steps = sum(i * s for i, s in zip(indices, self.strides, strict=True))
        return np.asarray(self.start + steps * self.element.nbytes, np.int64)

    def load(self) -> Array:
        """Load all elements."""
        return self.buffer.read(self.element, self.places())

    def store(self, values: Array) -> None:
        """Replace all elements."""
        self.buffer.write(self.element, self.places(), values)


def span_of(shape: Ints, strides: Ints) -> int:
    """Return the number of elements from the first of a strided array to its last."""
    return 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) if prod(shape) else 0


def row_major(shape: Ints) -> Ints:
    """Return the strides of a dense array."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def layout_of(type_: MemRefType[Any], shape: Ints) -> tuple[Ints | None, int | None]:
    """Return strides and offset of a memref's type for this shape; None where dynamic.

    Raises:
        InterpretationRefused: its layout has no strides.
    """
    layout = type_.layout
    if isinstance(layout, NoneAttr):
        return row_major(shape), 0
    if isinstance(layout, StridedLayoutAttr):
        strides = layout.get_strides()
        known = tuple(s for s in strides if s is not None)
        return (known if len(known) == len(strides) else None), layout.get_offset()
    if isinstance(layout, AffineMapAttr):
        return _strides_of_map(layout.data, shape, type_), 0
    raise InterpretationRefused("", f"expected a memref with strides, got {type_}")


def _strides_of_map(map_: AffineMap, shape: Ints, type_: Attribute) -> Ints:
    """Return the strides of a permutation map, whose results index a dense array of the permuted shape."""
    rank = len(shape)
    order = [next((d for d in range(rank) if r == AffineMap.identity(rank).results[d]), None) for r in map_.results]
    kept = [d for d in order if d is not None]
    if sorted(kept) != list(range(rank)) or len(order) != rank:
        raise InterpretationRefused("", f"expected a layout that permutes dimensions, got {type_}")
    stored = row_major(tuple(shape[d] for d in kept))
    return tuple(stored[kept.index(d)] for d in range(rank))


def is_local(type_: MemRefType[Any]) -> bool:
    """Return whether a memref is in shared local memory, in any spelling of it.

    Raises:
        InterpretationRefused: a memory space that is not known.
    """
    space = type_.memory_space
    if isinstance(space, NoneAttr):
        return False
    if isinstance(space, IntegerAttr) and space.value.data in (0, 1, 3, 4, 5):
        return space.value.data == 3  # SPIR-V's numbers: 3 is the work-group's
    if isinstance(space, AddressSpaceAttr):
        return space.data is AddressSpace.WORKGROUP
    if isinstance(space, MemorySpaceAttr):
        return space.data is MemorySpace.SLM
    if isinstance(space, StringAttr) and space.data in ("global", "slm", "shared"):
        return space.data != "global"
    raise InterpretationRefused("", f"expected memory space 0 (device) or 3 (shared local), got {space}")
