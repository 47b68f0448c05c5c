"""The cache hints of accesses."""

from xdsl.ir import Operation

from codegen.xe.dialects.cache_hint import (
    HINTS,
    CachePolicy,
    XeGPUCacheHint,
)


def hints_of(op: Operation) -> tuple[CachePolicy | None, ...]:
    """Return the hints of an access for L1, L2 and L3."""
    given = [op.properties.get(key) for key in HINTS]
    return tuple(hint.data if isinstance(hint, XeGPUCacheHint) else None for hint in given)
