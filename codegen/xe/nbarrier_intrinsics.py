"""The intrinsics of Intel's compiler for named barriers, whose names LLVM keeps for its own.

The code has names of the same length with `_` for `.`, and SPIR-V gets the intrinsics' own. Source: IGC's
NamedBarriersResolution.cpp and GenISA_threadgroupnamedbarriers_signal: id, role, producers, consumers; role 0 is both.
"""

_PREFIX = "llvm_genx_GenISA_threadgroupnamedbarriers_"
SIGNAL, WAIT = f"{_PREFIX}signal", f"{_PREFIX}wait"
NAMED_BARRIERS = "xetune_named_barriers"
"""Metadata of a kernel in LLVM IR: the number of barriers that it allocates."""
MOST_NAMED = 31
"""Of a kernel: the hardware has 32, and one of them is that of gpu.barrier."""


def with_intrinsics(spirv: bytes) -> bytes:
    """Return a SPIR-V module that calls the intrinsics by their own names."""
    for name in (SIGNAL, WAIT):
        family, _, which = name.rpartition("_")
        spirv = spirv.replace(name.encode(), f"{family.replace('_', '.')}.{which}".encode())
    return spirv
