"""Projection of a suggestion onto the legal configurations that are untried."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tuner.space.space import (
    Ranks,
    Space,
)

C = TypeVar("C")


def nearest_unseen(space: Space[C], ranks: Ranks, seen: NDArray[np.bool_], rng: np.random.Generator) -> int | None:
    """Return the row nearest to a point among those not `seen`, ties broken at random; None when all are seen."""
    if seen.all():
        return None
    if (exact := space.find(ranks)) is not None and not seen[exact]:
        return exact
    distances = space.distances(ranks)
    distances[seen] = np.iinfo(distances.dtype).max
    return int(rng.choice(np.flatnonzero(distances == distances.min())))


def rows_near(space: Space[C], configs: Sequence[C]) -> list[int]:
    """Return for each configuration the nearest row not yet returned; skip those without a point in the space."""
    rng = np.random.default_rng(0)  # breaks ties; deterministic
    taken = np.zeros(len(space), dtype=np.bool_)
    rows: list[int] = []
    for config in configs:
        ranks = space.near(config)
        row = nearest_unseen(space, ranks, taken, rng) if ranks is not None else None
        if row is not None:
            taken[row] = True
            rows.append(row)
    return rows
