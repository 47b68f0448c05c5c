"""Gather and scatter of bytes of an array."""

import numpy as np

from codegen.simulate.values import Array


def gather(memory: Array, rows: Array | None, offsets: Array, nbytes: int) -> Array:
    """Return bytes [..., nbytes] of [rows, bytes] at `offsets`, or of [bytes] without rows."""
    typed, at, count = _typed(memory, offsets, nbytes)
    index = at[..., None] + np.arange(count) if count > 1 else at[..., None]
    values = typed[index] if rows is None else typed[rows[..., None], index]
    return values.view(np.uint8)


def scatter(memory: Array, rows: Array | None, offsets: Array, values: Array) -> None:
    """Write bytes [..., nbytes] where `gather` would read them; the last of duplicates wins."""
    shape = np.broadcast_shapes(offsets.shape, values.shape[:-1])
    typed, at, count = _typed(memory, offsets, values.shape[-1])
    whole = np.ascontiguousarray(np.broadcast_to(values, (*shape, values.shape[-1]))).view(typed.dtype)
    index = np.broadcast_to(at, shape)[..., None] + np.arange(count)
    if rows is None:
        typed[index] = whole
    else:
        typed[np.broadcast_to(rows, shape)[..., None], index] = whole


def _typed(memory: Array, offsets: Array, nbytes: int) -> tuple[Array, Array, int]:
    """Return the memory in the largest elements that align with all places, the places and the count in these."""
    for size in (8, 4, 2):
        if nbytes % size == 0 and memory.shape[-1] % size == 0 and not (offsets % size).any():
            return memory.view(f"u{size}"), offsets // size, nbytes // size
    return memory, offsets, nbytes
