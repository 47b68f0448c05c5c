"""Which work-groups to run of a launch that is too large to run whole."""

from math import prod

import numpy as np


def sample_groups(groups: tuple[int, int, int], count: int, seed: int) -> tuple[int, ...]:
    """About `count` linear ids (x fastest), sorted: all corners, then the middles of edges, then drawn ones.

    The last row and column of work-groups, where ragged sizes show, get a third of those that are drawn. All of
    them if there are at most `count`. Never fewer than the corners.
    """
    if prod(groups) <= count:
        return tuple(range(prod(groups)))
    x, y, z = (sorted({0, extent - 1}) for extent in groups)
    chosen = {_linear((i, j, k), groups) for i in x for j in y for k in z}
    middle = (groups[0] // 2, groups[1] // 2, groups[2] // 2)
    edges = [(i, middle[1], middle[2]) for i in x] + [(middle[0], j, middle[2]) for j in y] + [middle]
    for place in edges:
        if len(chosen) < count:
            chosen.add(_linear(place, groups))
    rng = np.random.default_rng(seed)
    while len(chosen) < count:
        i, j, k = (int(rng.integers(extent)) for extent in groups)
        edge = int(rng.integers(6))  # 0: last along x, 1: last along y, else anywhere
        place = (groups[0] - 1 if edge == 0 else i, groups[1] - 1 if edge == 1 else j, k)
        chosen.add(_linear(place, groups))
    return tuple(sorted(chosen))


def _linear(place: tuple[int, int, int], groups: tuple[int, int, int]) -> int:
    return place[0] + groups[0] * (place[1] + groups[1] * place[2])
