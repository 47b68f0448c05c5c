"""Rows of the experts of a grouped problem, for which it is tuned and on which it is verified."""

import math
from functools import cache, lru_cache
from random import Random
from statistics import NormalDist

_SEED = 20
_SPREAD = 1.0
"""Standard deviation of the logarithm of an expert's popularity."""


@cache
def spread_rows(rows: int, experts: int) -> tuple[int, ...]:
    """Return the rows of each expert, as a router that prefers some experts spreads them.

    Popularities are those of a log-normal distribution, assigned to experts by a draw with a fixed seed; rows are dealt
    in proportion. Of three experts or more, one has no row, and one, if there are two rows, a single row.
    """
    rng = Random(_SEED)
    ranks = sorted(range(experts), key=[rng.random() for _ in range(experts)].__getitem__)
    normal = NormalDist()
    popular = [math.exp(_SPREAD * normal.inv_cdf((rank + 0.5) / experts)) for rank in ranks]
    single = 0
    if experts > 2:
        popular[ranks.index(0)] = popular[ranks.index(1)] = 0.0
        single = min(1, rows - 1)
    total, dealt, before, found = sum(popular), rng.random(), 0.0, list[int]()
    for share in popular:
        ends = [math.floor((rows - single) * at / total + dealt) for at in (before, before + share)]
        before += share
        found.append(ends[1] - ends[0])
    if experts > 2:
        found[ranks.index(1)] = single
    # The last expert's end may be rounded.
    found[found.index(max(found))] += rows - sum(found)
    return tuple(found)


@lru_cache(1024)
def row_tiles(rows: tuple[int, ...], height: int) -> int:
    """Return the tiles of `height` rows that cover the rows of each expert."""
    return sum(-(-count // height) for count in rows)


def rows_of_tile(rows: tuple[int, ...], height: int, number: int) -> tuple[int, slice]:
    """Return the expert of a tile, numbered over all experts, and the rows of the tile that are the expert's."""
    begin = 0
    for expert, count in enumerate(rows):
        tiles = -(-count // height)
        if number < tiles:
            first = begin + number * height
            return expert, slice(first, min(first + height, begin + count))
        number, begin = number - tiles, begin + count
    raise IndexError(f"expected one of {row_tiles(rows, height)} tiles")


def offsets(rows: tuple[int, ...]) -> list[int]:
    """Return the first row of each expert, and the end of the last: what a launch gives."""
    ends = [0]
    for count in rows:
        ends.append(ends[-1] + count)
    return ends
