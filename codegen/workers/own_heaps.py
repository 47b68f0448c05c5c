"""Work on threads with a heap each, for a library that remembers addresses of objects that it has freed.

glibc gives every thread a heap until a limit, and freed memory goes back to the heap it came from. While a
thread lives, no other gets its heap, so that no object of more than 1 KiB is created at an address that an earlier one
had; threads pass smaller pieces to each other.
"""

import ctypes
from concurrent.futures import ThreadPoolExecutor

_M_ARENA_MAX, _M_TOP_PAD = -8, -2  # of mallopt; source: malloc.h
_MADV_POPULATE_WRITE = 23  # of madvise; source: Linux 5.14, mman-common.h
_MOST = 1 << 16
_LARGE_BYTES = 2048
_TOP_PAD_BYTES = 2 << 20  # by which a heap begins; glibc makes a heap larger page by page, each by a system call
_POPULATED_BYTES = 3 << 19  # less than most modules take
_HEAP_BYTES = 64 << 20  # a heap begins at a multiple; source: HEAP_MAX_SIZE of glibc's arena.c on 64-bit machines


class SharedHeap(Exception):
    """The C library gave a thread no heap of its own."""


class OwnHeaps:
    """Threads with a heap each, kept until the process ends."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None)
        self._malloc = libc.malloc
        self._malloc.restype, self._malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
        if hasattr(libc, "mallopt"):
            libc.mallopt(_M_ARENA_MAX, _MOST)
            libc.mallopt(_M_TOP_PAD, _TOP_PAD_BYTES)
        self._madvise = libc.madvise
        self._madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self._used = {self._heap()}
        self._threads: list[ThreadPoolExecutor] = []

    def thread(self) -> ThreadPoolExecutor:
        """Start a thread with a new heap.

        Raises:
            SharedHeap: there is none.
        """
        thread = ThreadPoolExecutor(1)
        self._threads.append(thread)
        thread.submit(self._take_heap).result()
        return thread

    def _take_heap(self) -> None:
        heap = self._heap()
        if heap in self._used:
            raise SharedHeap
        self._used.add(heap)
        # Its first pages at once, in place of a fault for each; older kernels refuse, and the faults do it.
        self._madvise(heap * _HEAP_BYTES, _POPULATED_BYTES, _MADV_POPULATE_WRITE)

    def _heap(self) -> int:
        """Return the number of the heap from which this thread gets memory."""
        return self._malloc(_LARGE_BYTES) // _HEAP_BYTES
