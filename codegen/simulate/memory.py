"""Memory of a simulated launch: the kernel's buffers, and private arrays of every work-item.

A pointer is an int64: the number of its object above bit 40, the offset in bytes below.
"""

from collections.abc import Sequence

import numpy as np

from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.values import LANES, Array, undefined_bytes

_OBJECT_SHIFT = 40
_OFFSET_MASK = (1 << _OBJECT_SHIFT) - 1
_FIRST_PRIVATE = 1 << 20


def check_writeable(buffer: Array, where: str) -> None:
    """Return when a kernel may write a buffer.

    Raises:
        SimulationRefused: it is an input.
    """
    if not buffer.flags.writeable:
        raise SimulationRefused(where, "writes a buffer that is an input")


class Memory:
    """Buffers are shared and written in place; private arrays belong to `count` sub-groups of 16 lanes."""

    def __init__(self, buffers: Sequence[Array], count: int) -> None:
        self._buffers = buffers
        self._count = count
        self._private_sizes: dict[int, int] = {}
        self._private_ids: dict[str, int] = {}
        # An array is replaced, never written into: loaded values are views of it. None: all undefined.
        self._private: dict[int, Array | None] = {}

    def buffer_pointer(self, index: int) -> Array:
        """A pointer to the start of a buffer."""
        return np.array([[(index + 1) << _OBJECT_SHIFT]], np.int64)

    def allocate(self, name: str, nbytes: int, active: Array | None) -> Array:
        """A pointer to the private array `name`, its contents undefined."""
        object_id = self._private_ids.setdefault(name, _FIRST_PRIVATE + len(self._private_ids))
        self._private_sizes[object_id] = nbytes
        if active is None or object_id not in self._private:
            self._private[object_id] = None
        else:
            self._write_private(object_id, 0, undefined_bytes((1, 1, nbytes)), active)
        return np.array([[object_id << _OBJECT_SHIFT]], np.int64)

    def load(self, pointer: Array, nbytes: int, active: Array | None, where: str) -> Array:
        """Bytes at a pointer: [sub-groups or 1, lanes or 1, nbytes]."""
        object_id = self._object(pointer, where)
        if object_id >= _FIRST_PRIVATE:
            offset = self._private_offset(object_id, pointer, nbytes, where)
            contents = self._private[object_id]
            if contents is None:
                return undefined_bytes((self._active_count(active), LANES, nbytes))
            return (contents if active is None else contents[active])[:, :, offset : offset + nbytes]
        buffer, offsets = self.locate(pointer, nbytes, where)
        return buffer[offsets[..., None] + np.arange(nbytes)]

    def store(self, pointer: Array, values: Array, active: Array | None, where: str) -> None:
        """Write bytes [sub-groups or 1, lanes or 1, nbytes] at a pointer."""
        object_id, nbytes = self._object(pointer, where), values.shape[-1]
        if object_id >= _FIRST_PRIVATE:
            offset = self._private_offset(object_id, pointer, nbytes, where)
            self._write_private(object_id, offset, values, active)
            return
        buffer, offsets = self.locate(pointer, nbytes, where)
        check_writeable(buffer, where)
        shape = np.broadcast_shapes(offsets.shape, values.shape[:2])
        at = np.broadcast_to(offsets, shape)[..., None] + np.arange(nbytes)
        buffer[at] = np.broadcast_to(values, at.shape)

    def locate(self, pointer: Array, nbytes: int, where: str) -> tuple[Array, Array]:
        """The buffer that a pointer is into, as bytes, and the offsets.

        Raises:
            SimulationRefused: `nbytes` from there are not inside a buffer.
        """
        object_id = self._object(pointer, where)
        if not 1 <= object_id <= len(self._buffers):
            raise SimulationRefused(where, "the pointer is into no buffer of the launch")
        buffer, offsets = self._buffers[object_id - 1], pointer & _OFFSET_MASK
        if int(offsets.max()) + nbytes > buffer.size:
            raise SimulationRefused(
                where, f"touches bytes {int(offsets.max())} and {nbytes} on, of a buffer of {buffer.size} bytes"
            )
        return buffer, offsets

    def _object(self, pointer: Array, where: str) -> int:
        ids = pointer >> _OBJECT_SHIFT
        first = int(ids.flat[0])
        if (ids != first).any():
            raise SimulationRefused(where, "pointers into different buffers in one instruction")
        return first

    def _private_offset(self, object_id: int, pointer: Array, nbytes: int, where: str) -> int:
        size = self._private_sizes.get(object_id)
        offsets = pointer & _OFFSET_MASK
        offset = int(offsets.flat[0])
        if size is None or offset + nbytes > size:
            raise SimulationRefused(where, f"touches bytes {offset} to {offset + nbytes} of {size} private ones")
        if (offsets != offset).any():
            raise SimulationRefused(where, "work-items index private memory differently")
        return offset

    def _write_private(self, object_id: int, offset: int, values: Array, active: Array | None) -> None:
        size, nbytes = self._private_sizes[object_id], values.shape[-1]
        if active is None and nbytes == size:
            whole = np.broadcast_to(values, (self._count, LANES, size))
            self._private[object_id] = np.ascontiguousarray(whole)
            return
        old = self._private[object_id]
        new = undefined_bytes((self._count, LANES, size)) if old is None else old.copy()
        new[slice(None) if active is None else active, :, offset : offset + nbytes] = values
        self._private[object_id] = new

    def _active_count(self, active: Array | None) -> int:
        return self._count if active is None else len(active)
