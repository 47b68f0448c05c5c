"""Private arrays as aligned as the accesses to them claim.

MLIR allocates them with the alignment of an element and accesses them with that of a whole vector. A GPU does not
mind; a CPU faults.
"""

import re

PRIVATE_ALIGNMENT = 64
_ALLOCA = re.compile(r"^(\s+%[\w.]+ = alloca \[.*\]), align \d+$", re.MULTILINE)


def align_private_memory(text: str) -> str:
    """Raise the alignment of private arrays to 64 bytes."""
    return _ALLOCA.sub(rf"\1, align {PRIVATE_ALIGNMENT}", text)
