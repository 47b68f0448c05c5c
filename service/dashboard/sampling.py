"""Sampling of many trials for a page."""

import random
from itertools import pairwise


def sample_of(count: int, most: int) -> list[int]:
    """Return at most `most` of the numbers from 0 to `count`, evenly spread, including 0; deterministic.

    One is selected at random from each of equal parts: constant steps would alias with periodic patterns.
    """
    if count <= most:
        return list(range(count))
    drawn = random.Random(count)
    ends = [i * count // most for i in range(most + 1)]
    return [0, *[drawn.randrange(low, high) for low, high in pairwise(ends)][1:]]
