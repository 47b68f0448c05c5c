"""Division of what an import writes into short transactions."""

import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

_PAUSE_S = 0.05  # a writer that waits for SQLite's lock asks again after at most 100 ms


def portions(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the rows, `size` at a time, with a pause between them in which others write."""
    for first in range(0, len(rows), size):
        if first:
            time.sleep(_PAUSE_S)
        yield rows[first : first + size]
