"""Projection of a suggestion onto the legal configurations that were not tried."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tuner.space import Ranks, Space

C = TypeVar("C")


def nearest_unseen(space: Space[C], ranks: Ranks, seen: NDArray[np.bool_], rng: np.random.Generator) -> int | None:
    """The row nearest to a point among those not `seen`, ties drawn at random; None when all are seen."""
    if seen.all():
        return None
    if (exact := space.find(ranks)) is not None and not seen[exact]:
        return exact
    distances = space.distances(ranks)
    distances[seen] = np.iinfo(distances.dtype).max
    return int(rng.choice(np.flatnonzero(distances == distances.min())))
