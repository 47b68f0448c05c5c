"""Memory for buffers of kernels: between guard pages for verification, on large pages for timing."""

import ctypes
import mmap
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hal.buffer import Buffer
from hal.errors import DeviceFailed

Bytes = NDArray[np.uint8]

SCRATCH_ALIGNMENT = 64
_PAGE = mmap.PAGESIZE
_HUGE_PAGE = 2 << 20
_PROT_NONE = 0
_UNTOUCHED = 0xA5


@dataclass(frozen=True, slots=True)
class Guarded:
    """Bytes that end at an inaccessible page, up to `alignment`; another such page precedes them."""

    bytes: Bytes
    around: tuple[Bytes, Bytes]

    @property
    def intact(self) -> bool:
        """True if the bytes between the buffer and its guard pages are unchanged."""
        return all(bool((side == _UNTOUCHED).all()) for side in self.around)


def guarded(nbytes: int, alignment: int) -> Guarded:
    """Return new memory between guard pages.

    Raises:
        DeviceFailed: not enough memory.
    """
    inner = _rounded_up(nbytes + alignment, _PAGE)
    memory = _mapped(inner + 2 * _PAGE)
    whole = memory[_PAGE:-_PAGE]
    whole[:] = _UNTOUCHED
    address = whole.ctypes.data
    start = (address + inner - nbytes) // alignment * alignment - address
    for guard in (address - _PAGE, address + inner):
        _forbid(guard)
    return Guarded(whole[start : start + nbytes], (whole[:start], whole[start + nbytes :]))


def rows_of_buffers(sizes: Iterable[tuple[int, int]], count: int) -> list[list[Bytes]]:
    """Return `count` sets of new buffers of these sizes and alignments in bytes, on large pages if there are any.

    Each has exactly its alignment and no larger one.

    Raises:
        DeviceFailed: not enough memory.
    """
    wanted = list(sizes)
    total = count * sum(nbytes + 2 * alignment for nbytes, alignment in wanted)
    memory = _mapped(_rounded_up(total, _HUGE_PAGE) + _HUGE_PAGE, huge=True)
    at = -memory.ctypes.data % _HUGE_PAGE
    rows: list[list[Bytes]] = []
    for _ in range(count):
        rows.append([])
        for nbytes, alignment in wanted:
            address = memory.ctypes.data + at
            at += (alignment - address) % (2 * alignment)
            rows[-1].append(memory[at : at + nbytes])
            at += nbytes
    return rows


def filled(memory: Bytes, buffer: Buffer | None, poison: np.uint8) -> Bytes:
    """Return the memory, filled with a buffer's contents or with poison."""
    memory[:] = poison if buffer is None else np.ascontiguousarray(buffer).reshape(-1).view(np.uint8)
    return memory


def _mapped(nbytes: int, huge: bool = False) -> Bytes:
    """Map new memory from the system; it is unmapped when nothing refers to it."""
    try:
        mapping = mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError, ValueError) as error:
        raise DeviceFailed(f"no memory for {nbytes} bytes of buffers: {error}") from None
    if huge:
        with suppress(OSError):  # huge pages are optional
            mapping.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(mapping, np.uint8)


def _forbid(address: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(_PAGE), _PROT_NONE) != 0:
        raise DeviceFailed(f"a page cannot be guarded: error {ctypes.get_errno()}")


def _rounded_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
