"""Threads of numpy's OpenBLAS.

After a product its threads wait actively, for 2**26 clocks each, which takes longer than a product of a search.
"""

import ctypes
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path

_SET, _GET = "set_num_threads", "get_num_threads"
_NAMES = ("scipy_openblas_{}64_", "openblas_{}64_", "openblas_{}")
_MAPS = Path("/proc/self/maps")


def set_threads(threads: int) -> int | None:
    """Set the number of threads of this process; return that before, or None if numpy's BLAS is another."""
    found = _library()
    if found is None:
        return None
    library, name = found
    before = int(library[name.format(_GET)]())
    library[name.format(_SET)](threads)
    return before


class _Users:
    """Users of one thread, in all threads of this process."""

    def __init__(self) -> None:
        self._lock, self._count = threading.Lock(), 0
        self._before: int | None = None

    @contextmanager
    def one(self) -> Generator[None]:
        with self._lock:
            self._count += 1
            if self._count == 1:
                self._before = set_threads(1)
        try:
            yield
        finally:
            with self._lock:
                self._count -= 1
                if self._count == 0 and self._before is not None:
                    set_threads(self._before)


one_thread = _Users().one
"""Compute without further threads meanwhile; products of other threads of the process that begin meanwhile do, too."""


@cache
def _library() -> tuple[ctypes.CDLL, str] | None:
    """Return the library of numpy, and the form of its names."""
    import_module("numpy")  # which loads it
    words = set(_MAPS.read_text().split()) if _MAPS.exists() else set[str]()
    for path in sorted(word for word in words if word.startswith("/") and "openblas" in word):
        library = ctypes.CDLL(path)
        for name in _NAMES:
            if hasattr(library, name.format(_SET)):
                return library, name
    return None
