"""Distribution of the prefetch of a tile over the sub-groups of a work-group."""

from math import gcd

from codegen.xe.dialects.xetile import WgMap
from codegen.xe.layout.limits import LEAST_PREFETCH_ROWS


def cooperative_map(rows: int, columns: int, subgroups: int, widest: int) -> WgMap:
    """Distribute a tile over as many sub-groups as its messages allow, at most `widest` columns a message.

    Of the possible distributions, choose the one with the most columns of sub-groups: tall parts are one
    message, wide ones several. Remaining sub-groups wrap around and share the data of others.
    """
    messages_down, messages_across = rows // gcd(rows, LEAST_PREFETCH_ROWS), columns // gcd(columns, widest)
    layouts = [
        (down, _divisors(messages_across, subgroups // down)[-1]) for down in _divisors(messages_down, subgroups)
    ]
    down, across = max(layouts, key=lambda layout: (layout[0] * layout[1], layout[1]))
    return WgMap.of((down, across), (rows // down, columns // across))


def _divisors(number: int, limit: int) -> list[int]:
    """Return the divisors of a number up to a limit, ascending."""
    return [d for d in range(1, min(number, limit) + 1) if number % d == 0]
