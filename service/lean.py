"""A process that serves for long: short pauses, little memory."""

import ctypes
import gc

_M_ARENA_MAX = -8  # of malloc.h of glibc
_ARENAS = 2
_THRESHOLDS = 10_000, 20, 10  # of the three generations; the first is 700 by default


def settle() -> None:
    """Call once everything is loaded: garbage is collected seldom, and not among what is there; threads share heaps.

    The modules of the service alone are a quarter of a million objects, and to look through them took 60 to 170 ms, in
    which nothing was answered; what is kept in memory later adds to it, so it is done less often. Each of glibc's heaps
    keeps what was once asked of it, and each thread would have one.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc alone has it
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, _ARENAS)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
