"""Which of very many trials a page looks at."""

import random
from itertools import pairwise


def sample_of(count: int, most: int) -> list[int]:
    """At most so many of the numbers from 0 to `count`, evenly spread, 0 always among them; the same ones each time.

    One is drawn from each of equal parts: steps of one width would meet what recurs at that width too often, or never.
    """
    if count <= most:
        return list(range(count))
    drawn = random.Random(count)
    ends = [i * count // most for i in range(most + 1)]
    return [0, *[drawn.randrange(low, high) for low, high in pairwise(ends)][1:]]
