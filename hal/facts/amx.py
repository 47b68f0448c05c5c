"""Permission of the Linux kernel to use the tile registers of AMX.

Source: Linux, Documentation/arch/x86/xstate.rst.
"""

import ctypes
import errno
import os
import platform

_ARCH_PRCTL = 158  # system call number on x86-64
_GET_XCOMP_SUPP = 0x1021
_REQ_XCOMP_PERM = 0x1023
_TILE_DATA = 18  # number of this state component


def amx_permitted() -> bool:
    """Return whether the kernel would grant AMX to this process, without requesting it."""
    features = ctypes.c_uint64()
    return _arch_prctl(_GET_XCOMP_SUPP, ctypes.addressof(features)) == 0 and bool(features.value >> _TILE_DATA & 1)


def refusal_of_amx() -> str | None:
    """Request AMX for all threads of this process; return why the kernel refuses it, None when it does not."""
    error = _arch_prctl(_REQ_XCOMP_PERM, _TILE_DATA)
    if error == 0:
        return None
    return f"the Linux kernel refuses AMX to this process (arch_prctl: {os.strerror(error)})"


def _arch_prctl(code: int, argument: int) -> int:
    """Return the error number, 0 for none."""
    if platform.machine() != "x86_64":
        return errno.ENOSYS
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    done = syscall(ctypes.c_long(_ARCH_PRCTL), ctypes.c_long(code), ctypes.c_ulong(argument))
    return 0 if done == 0 else ctypes.get_errno()
