"""A process that serves for long: short pauses, little memory."""

import ctypes
import gc

_M_ARENA_MAX = -8  # of malloc.h of glibc
_ARENAS = 2


def settle() -> None:
    """Call once everything is loaded: collections of garbage leave alone what is there, and threads share heaps.

    The modules of the service alone are a quarter of a million objects, and to look through them took 60 to 170 ms, in
    which nothing was answered. Each of glibc's heaps keeps what was once asked of it, and each thread would have one.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc alone has it
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, _ARENAS)
    gc.collect()
    gc.freeze()
