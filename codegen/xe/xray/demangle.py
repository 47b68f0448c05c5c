"""Names of kernels as C++ writes them: SYCL names kernels after types, mangled by the Itanium C++ ABI."""

import ctypes
from functools import cache

_PREFIX = "typeinfo name for "
_MOST_CHARACTERS = 1 << 16  # of a name, and of what it expands to


def demangled(name: str) -> str:
    """Return the C++ name of a kernel; the name itself where it is not mangled, or no C++ library is installed."""
    library = _library()
    if library is None or not name.startswith("_Z") or len(name) > _MOST_CHARACTERS:
        return name
    status = ctypes.c_int()
    text = library.__cxa_demangle(name.encode(), None, None, ctypes.byref(status))
    if not text:
        return name
    try:
        return ctypes.string_at(text)[:_MOST_CHARACTERS].decode(errors="replace").removeprefix(_PREFIX)
    finally:
        library.free(ctypes.c_void_p(text))


@cache
def _library() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL("libstdc++.so.6")  # which compiled MLIR and drivers need too
    except OSError:
        return None
    library.__cxa_demangle.restype = ctypes.c_void_p
    library.__cxa_demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    library.free.argtypes = [ctypes.c_void_p]
    library.free.restype = None
    return library
