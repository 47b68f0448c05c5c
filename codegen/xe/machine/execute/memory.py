"""Memory of a launch: buffers at addresses, the driver's heap of payloads, shared local and scratch memory."""

from collections.abc import Sequence

import numpy as np

from codegen.simulate.memory.address_space import check_writeable
from codegen.simulate.memory.gather import gather, scatter
from codegen.simulate.memory.shared import SharedMemory
from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.values import Array, undefined_bytes

_SHIFT = 40
_OFFSET = (1 << _SHIFT) - 1
_HANDLE_SHIFT = 6  # handles of surfaces are offsets of states of 64 bytes


class Memory:
    """Buffers, each at a multiple of 2^40; `heap` is what the driver passes in memory.

    Every access must be inside of one buffer, but for ends of loads that are stated.
    """

    def __init__(self, buffers: Sequence[Array], heap: Array, shared: SharedMemory, threads: int, scratch: int) -> None:
        self.buffers, self.heap, self.shared = buffers, heap, shared
        self.scratch = undefined_bytes((threads, scratch))

    def locate(self, addresses: Array, nbytes: int, where: str) -> tuple[Array, Array]:
        """Return the buffer that addresses point into, and the offsets in it.

        Raises:
            SimulationRefused: `nbytes` from an address are not inside of a buffer, or they are in different ones.
        """
        numbers = addresses >> _SHIFT
        number = int(numbers.flat[0])
        if (numbers != number).any():
            raise SimulationRefused(where, "addresses in different buffers in one instruction")
        buffer, offsets = self.buffer(number, where), addresses & _OFFSET
        self._check(buffer, offsets, nbytes, where)
        return buffer, offsets

    def load(self, addresses: Array, nbytes: int, where: str, beyond: int = 0) -> Array:
        """Return bytes [..., nbytes] at addresses; up to `beyond` of them may be after a buffer, and are undefined."""
        out = np.empty((*addresses.shape, nbytes), np.uint8)
        for number in np.unique(addresses >> _SHIFT).tolist():
            here = addresses >> _SHIFT == number
            buffer, offsets = self.buffer(number, where), addresses[here] & _OFFSET
            self._check(buffer, offsets, nbytes, where, beyond)
            is_inside = int(offsets.max()) + nbytes <= buffer.size
            out[here] = gather(buffer, None, offsets, nbytes) if is_inside else _cut(buffer, offsets, nbytes)
        return out

    def store(self, addresses: Array, values: Array, where: str) -> None:
        """Write bytes [..., nbytes] at addresses; the last of duplicates wins."""
        for number in np.unique(addresses >> _SHIFT).tolist():
            here = addresses >> _SHIFT == number
            buffer, offsets = self.buffer(number, where), addresses[here] & _OFFSET
            self._check(buffer, offsets, values.shape[-1], where)
            check_writeable(buffer, where)
            scatter(buffer, None, offsets, values[here])

    def buffer(self, number: int, where: str) -> Array:
        """Return a buffer by its number in addresses.

        Raises:
            SimulationRefused: there is none.
        """
        if not 1 <= number <= len(self.buffers):
            raise SimulationRefused(where, "the address is in no buffer of the launch")
        return self.buffers[number - 1]

    def _check(self, buffer: Array, offsets: Array, nbytes: int, where: str, beyond: int = 0) -> None:
        if offsets.size and int(offsets.max()) + nbytes - beyond > buffer.size:
            raise SimulationRefused(
                where, f"touches bytes {int(offsets.max())} and {nbytes} on, of a buffer of {buffer.size} bytes"
            )


def _cut(buffer: Array, offsets: Array, nbytes: int) -> Array:
    """Return bytes [..., nbytes] at offsets, undefined after the buffer's end."""
    at = offsets[..., None] + np.arange(nbytes)
    return np.where(at < buffer.size, buffer[np.minimum(at, buffer.size - 1)], undefined_bytes((1,)))


def address_of(index: int) -> int:
    """Return the address of a buffer."""
    return (index + 1) << _SHIFT


def handle_of(index: int) -> int:
    """Return the handle of the surface state of a buffer."""
    return (index + 1) << _HANDLE_SHIFT


def surface_addresses(handles: Array, offsets: Array) -> Array:
    """Return addresses from handles of surfaces and offsets in these."""
    return (handles.astype(np.int64) >> _HANDLE_SHIFT << _SHIFT) + offsets
