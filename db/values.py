"""Values of columns that need no SQLAlchemy: JSON objects, times, identifiers."""

import secrets
import threading
import time
from datetime import UTC, datetime
from uuid import UUID

JsonObject = dict[str, object]


def utc_now() -> datetime:
    """Return the current time, in UTC."""
    return datetime.now(UTC)


_RANDOM_BITS = 74
_drawing, _last = threading.Lock(), 0


def new_id() -> UUID:
    """Return a UUID that sorts by creation time: to the millisecond, within a process exactly.

    Source: RFC 9562, section 5.7 (version 7), and section 6.2, method 2 (monotonic random).
    """
    global _last
    milliseconds = time.time_ns() // 1_000_000
    with _drawing:
        _last = max((milliseconds << _RANDOM_BITS) | secrets.randbits(_RANDOM_BITS), _last + 1 + secrets.randbits(32))
        drawn = _last
    high, low = drawn >> 62, drawn & ((1 << 62) - 1)
    return UUID(int=(high >> 12 << 80) | (7 << 76) | ((high & 0xFFF) << 64) | (2 << 62) | low)
