"""Bytes over the memory bus: sharing between concurrent work-groups, and reuse in L2."""

import numpy as np

from tuner.model.xe.columns import Column, Columns
from tuner.model.xe.device import Case
from tuner.model.xe.work import Work


def memory_bytes(on: Case, c: Columns, work: Work) -> Column:
    """Return the bytes over the memory bus: A and B as often as they are read, everything else once; excludes
    sums of splits.
    """
    return input_bytes(on, c, work) + output_bytes(on)


def output_bytes(on: Case) -> int:
    """Return the bytes of C and of the operands of its epilogue."""
    p = on.problem
    return sum(p.accessed_bytes(o) * (1 + (o.role == "inout")) for o in p.operands[2:])


def input_bytes(on: Case, c: Columns, work: Work) -> Column:
    """Return the bytes of A and B.

    Concurrent tiles form a rectangle of C. It moves along one side, over a band, and then to the next band.
    Data shared within the band is reused from one rectangle to the next, and data shared by all bands from
    band to band, if L2 has room for it besides the new data.
    """
    p = on.problem
    a, b = (p.accessed_bytes(o) for o in p.operands[:2])
    if p.experts is not None:
        return _bytes_of_experts(on, c, work, a, b)
    rows, columns = _together(c, work)
    along_n = np.where(work.turns > 1, c.tiles_along_n, c.along_n) > 0
    depth, matrices = p.k / c.splits, a / p.batch + b / p.batch
    new_a = rows * c.block_m * depth * p.dtype_a.nbytes
    new_b = columns * c.block_n * p.products * depth * p.bytes_b
    along = np.where(along_n, work.tiles_n / columns, work.tiles_m / rows)
    bands = np.where(along_n, work.tiles_m / rows, work.tiles_n / columns)
    room = on.constants.cached * on.l2.likely
    # The operand of the band is A if it moves along N.
    band, moving = np.where(along_n, a, b), np.where(along_n, b, a)
    band_kept = _kept(new_a + new_b, room)
    moving_kept = _kept(np.where(along_n, b / p.batch + new_a, a / p.batch + new_b), room)
    everything_kept = _kept(matrices, room)
    again = 1 - everything_kept
    return band * (1 + again * (1 - band_kept) * np.maximum(0, np.ceil(along) - 1)) + moving * (
        1 + again * (1 - moving_kept) * np.maximum(0, np.ceil(bands) - 1)
    )


def _bytes_of_experts(on: Case, c: Columns, work: Work, a: int, b: int) -> Column:
    """Return the bytes of A, and of the B of experts with rows: once for each row of tiles if these follow each other
    and the B of one expert does not stay in L2.
    """
    each = on.problem.read_experts
    kept = _kept(np.full(len(c), b / each), on.constants.cached * on.l2.likely)
    turns = np.where(c.along_n > 0, work.tiles_m / each, 1)
    return a + b * (1 + (1 - kept) * np.maximum(0, turns - 1))


def _together(c: Columns, work: Work) -> tuple[Column, Column]:
    """Return the rows and columns of concurrent tiles."""
    groups_m, groups_n = np.minimum(c.groups_m, work.tiles_m), np.minimum(c.groups_n, work.tiles_n)
    along_n = c.along_n > 0
    down, across = np.where(along_n, groups_m, groups_n), np.where(along_n, groups_n, groups_m)
    running = np.minimum(work.running, down * across)
    grouped = c.raster_group > 1
    high = np.minimum(np.minimum(c.raster_group, down), running)
    wide = np.minimum(np.where(grouped, np.ceil(running / high), running), across)
    high = np.where(grouped, high, np.ceil(running / wide))
    return np.where(along_n, high, wide), np.where(along_n, wide, high)


def _kept(need: Column | float, room: float) -> Column:
    """Return the share that stays cached: all of what fits, nothing of what is twice too large."""
    return np.clip(2 - np.asarray(need) / room, 0, 1)
