"""How the sub-groups of a work-group share the prefetch of a tile."""

from math import gcd

from codegen.dialects.xetile import WgMap

_LEAST_ROWS = 8  # fewer rows a message make more messages than prefetching saves


def cooperative_map(rows: int, columns: int, subgroups: int, block_columns: int) -> WgMap:
    """Deal a tile out to `subgroups`, rows first, in parts of at least 8 rows and `block_columns` columns.

    Sub-groups that are left over share: the map wraps around.
    """
    least_rows = gcd(rows, _LEAST_ROWS)
    down_choices = _divisors(rows // least_rows, subgroups)
    shares = [(down, _divisors(max(1, columns // block_columns), subgroups // down)[-1]) for down in down_choices]
    down, across = max(shares, key=lambda share: (share[0] * share[1], share[0]))
    return WgMap.of((down, across), (rows // down, columns // across))


def _divisors(number: int, limit: int) -> list[int]:
    """The divisors of a number up to a limit, ascending."""
    return [d for d in range(1, min(number, limit) + 1) if number % d == 0]
