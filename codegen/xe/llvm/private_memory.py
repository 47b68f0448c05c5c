"""Alignment of private arrays to that of the accesses to them.

MLIR allocates them with the alignment of an element and accesses them with that of a whole vector. A GPU
ignores this; a CPU faults.
"""

import re

PRIVATE_ALIGNMENT = 64
_ALLOCA = re.compile(r"( = alloca \[.*\]), align \d+$", re.MULTILINE)


def align_private_memory(text: str) -> str:
    """Raise the alignment of private arrays to 64 bytes."""
    return _ALLOCA.sub(rf"\1, align {PRIVATE_ALIGNMENT}", text)
