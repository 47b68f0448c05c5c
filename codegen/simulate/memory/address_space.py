"""Memory of a simulated launch: the kernel's buffers, shared local memory, and private arrays of every work-item.

A pointer is an int64: the number of its object above bit 40, the offset in bytes below.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from codegen.simulate.memory.gather import (
    gather,
    scatter,
)
from codegen.simulate.memory.private import PrivateMemory
from codegen.simulate.memory.shared import SharedMemory
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.subgroups import SubGroups
from codegen.simulate.values import Array

OBJECT_SHIFT = 40
OFFSET_MASK = (1 << OBJECT_SHIFT) - 1
FIRST_SHARED = 1 << 19
FIRST_PRIVATE = 1 << 20
SHARED_SPACE = 3


def check_writeable(buffer: Array, where: str) -> None:
    """Check that a kernel may write a buffer.

    Raises:
        SimulationRefused: it is an input.
    """
    if not buffer.flags.writeable:
        raise SimulationRefused(where, "writes a buffer that is an input")


@dataclass(frozen=True, slots=True)
class Place:
    """Place of an access to one object: bytes of `memory`, which has rows if there are many copies of the object."""

    memory: Array
    rows: Array | None
    offsets: Array


class Memory:
    """Buffers are shared and written in place; shared memory belongs to work-groups, private arrays to work-items."""

    def __init__(self, buffers: Sequence[Array], shared: SharedMemory, count: int) -> None:
        self._buffers = buffers
        self.shared = shared
        self.private = PrivateMemory(count)

    def allocate(self, name: str, nbytes: int, at: SubGroups) -> Array:
        """Return a pointer to the private array `name`, its contents undefined."""
        number = self.private.allocate(name, nbytes, at)
        return np.array([[(FIRST_PRIVATE + number) << OBJECT_SHIFT]], np.int64)

    def load(self, pointer: Array, nbytes: int, at: SubGroups, where: str) -> Array:
        """Load bytes at a pointer: [sub-groups or 1, lanes or 1, nbytes]."""
        object_id = self._object(pointer)
        if object_id is None:
            return self._of_each_object(
                pointer, at, lambda mask, here, part: self.load(part, nbytes, here, where), nbytes
            )
        offsets = pointer & OFFSET_MASK
        if object_id >= FIRST_PRIVATE:
            return self.private.load(object_id - FIRST_PRIVATE, offsets, nbytes, at, where)
        if self._is_shared(object_id):
            return self.shared.load(self._shared_number(object_id), offsets, nbytes, at, where)
        buffer, offsets = self.locate(pointer, nbytes, where)
        return gather(buffer, None, offsets, nbytes)

    def store(self, pointer: Array, values: Array, at: SubGroups, where: str) -> None:
        """Write bytes [sub-groups or 1, lanes or 1, nbytes] at a pointer."""
        object_id, nbytes = self._object(pointer), values.shape[-1]
        if object_id is None:
            whole = np.broadcast_to(values, (*at.shape, nbytes))
            self._of_each_object(
                pointer, at, lambda mask, here, part: self.store(part, whole[mask][:, None], here, where), nbytes
            )
            return
        offsets = pointer & OFFSET_MASK
        if object_id >= FIRST_PRIVATE:
            self.private.store(object_id - FIRST_PRIVATE, offsets, values, at, where)
        elif self._is_shared(object_id):
            self.shared.store(self._shared_number(object_id), offsets, values, at, where)
        else:
            buffer, offsets = self.locate(pointer, nbytes, where)
            check_writeable(buffer, where)
            scatter(buffer, None, offsets, values)

    def atomic(self, pointer: Array, nbytes: int, at: SubGroups, where: str) -> Place:
        """Return the place of an atomic operation of each work-item.

        Raises:
            SimulationRefused: outside of one buffer or of shared memory, or not aligned.
        """
        object_id, offsets = self._object(pointer), np.broadcast_to(pointer & OFFSET_MASK, at.shape)
        if object_id is None or object_id >= FIRST_PRIVATE:
            raise SimulationRefused(
                where, "an atomic operation needs all its pointers in one buffer or in shared memory"
            )
        if (offsets % nbytes).any():
            raise SimulationRefused(where, f"an atomic operation of {nbytes} bytes that is not aligned to them")
        if self._is_shared(object_id):
            return Place(*self.shared.atomic(self._shared_number(object_id), offsets, nbytes, at, where))
        buffer, _ = self.locate(pointer, nbytes, where)
        check_writeable(buffer, where)
        return Place(buffer, None, offsets)

    def locate(self, pointer: Array, nbytes: int, where: str) -> tuple[Array, Array]:
        """Return the buffer that a pointer points into, as bytes, and the offsets.

        Raises:
            SimulationRefused: `nbytes` from there are not inside a buffer.
        """
        object_id = self._object(pointer)
        if object_id is None:
            raise SimulationRefused(where, "pointers into different buffers in one instruction")
        if not 1 <= object_id <= len(self._buffers):
            raise SimulationRefused(where, "the pointer is into no buffer of the launch")
        buffer, offsets = self._buffers[object_id - 1], pointer & OFFSET_MASK
        if int(offsets.max()) + nbytes > buffer.size:
            raise SimulationRefused(
                where, f"touches bytes {int(offsets.max())} and {nbytes} on, of a buffer of {buffer.size} bytes"
            )
        return buffer, offsets

    def _is_shared(self, object_id: int) -> bool:
        """Return whether a pointer points into shared memory: one made from an i32 has no object, and does too."""
        return FIRST_SHARED <= object_id < FIRST_PRIVATE or (object_id == 0 and self.shared.nbytes > 0)

    def _shared_number(self, object_id: int) -> int | None:
        return object_id - FIRST_SHARED if object_id else None

    def _object(self, pointer: Array) -> int | None:
        ids = pointer >> OBJECT_SHIFT
        first = int(ids.flat[0])
        return first if ids.size == 1 or (ids == first).all() else None

    def _of_each_object(
        self,
        pointer: Array,
        at: SubGroups,
        access: Callable[[Array, SubGroups, Array], Array | None],
        nbytes: int,
    ) -> Array:
        whole = np.broadcast_to(pointer, at.shape)
        out = np.zeros((*at.shape, nbytes), np.uint8)
        ids = whole >> OBJECT_SHIFT
        for object_id in np.unique(ids):
            mask = ids == object_id
            values = access(mask, at.pick(mask), whole[mask][:, None])
            if values is not None:
                out[mask] = np.broadcast_to(values, (int(mask.sum()), 1, nbytes))[:, 0]
        return out


def buffer_pointer(index: int) -> int:
    """Return the pointer to the start of a buffer."""
    return (index + 1) << OBJECT_SHIFT


def shared_pointer(index: int, start: int) -> int:
    """Return the pointer to a variable of shared memory that starts at this byte."""
    return (FIRST_SHARED + index) << OBJECT_SHIFT | start
