"""Sampling of the work-groups to run of a launch that is too large to run whole."""

from math import prod

import numpy as np


def sample_groups(groups: tuple[int, int, int], count: int, seed: int) -> tuple[int, ...]:
    """Return about `count` linear ids (x fastest), sorted: all corners, then one of each edge, one inside, then any.

    All but the corners are drawn. The last row and column of work-groups, where ragged sizes show, get a third of the
    last. All work-groups if there are at most `count`. Never fewer than the corners.
    """
    if prod(groups) <= count:
        return tuple(range(prod(groups)))
    x, y, z = (sorted({0, extent - 1}) for extent in groups)
    chosen = {_linear((i, j, k), groups) for i in x for j in y for k in z}
    rng = np.random.default_rng(seed)
    drawn_x, drawn_y, drawn_z = ([_inside(extent, rng) for _ in range(5)] for extent in groups)
    on_edges = [(i, drawn_y.pop(), drawn_z.pop()) for i in x] + [(drawn_x.pop(), j, drawn_z.pop()) for j in y]
    for place in (*on_edges, (drawn_x.pop(), drawn_y.pop(), drawn_z.pop())):
        if len(chosen) < count:
            chosen.add(_linear(place, groups))
    while len(chosen) < count:
        i, j, k = (int(rng.integers(extent)) for extent in groups)
        edge = int(rng.integers(6))  # 0: last along x, 1: last along y, else anywhere
        place = (groups[0] - 1 if edge == 0 else i, groups[1] - 1 if edge == 1 else j, k)
        chosen.add(_linear(place, groups))
    return tuple(sorted(chosen))


def _inside(extent: int, rng: np.random.Generator) -> int:
    """Return a place between the first and the last; the last if there is none."""
    return int(rng.integers(1, extent - 1)) if extent > 2 else extent - 1


def _linear(place: tuple[int, int, int], groups: tuple[int, int, int]) -> int:
    return place[0] + groups[0] * (place[1] + groups[1] * place[2])
