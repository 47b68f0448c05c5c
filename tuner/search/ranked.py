"""A strategy for where nothing can be measured: in turn the best by predicted time, and the most different of these."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tuner.search.tried import Tried
from tuner.space.space import Space

NEAR = 1.5
"""Different configurations are looked for among those predicted within this factor of the best."""
AGAIN = 1.01
"""Of those that the model cannot tell apart, each that was proposed makes the others seem slower by this factor."""
_TIE = 1e-6  # times that differ by less, relative, differ by the order of sums


class Ranked:
    """Chooses the next best, then of those near the best the most different.

    Different are those that are many steps along the axes away from all that was tried. Of a tie, which may be of
    hundreds, the most different comes first, and the others wait for what is almost as fast. `times_us` are predicted,
    for each row of the space. Nothing is random, and what became of a row changes nothing.
    """

    def __init__(self, space: Space[Any], times_us: NDArray[np.float64]) -> None:
        self._space = space
        self._is_near = times_us <= NEAR * times_us.min()
        _, first, tie = np.unique(np.round(np.log(times_us) / _TIE), return_index=True, return_inverse=True)
        self._tie, self._tie_us = tie, times_us[first]
        self._tried_of = np.zeros(len(first), dtype=np.int64)  # rows of each tie
        self._nearest = np.full(len(space), np.iinfo(np.int64).max)  # steps from each row to what was tried
        self._count = 0

    def choose(self, tried: Tried, entropy: np.random.SeedSequence) -> int:
        """The next best and the most different in turn."""
        is_open = ~tried.closed
        if self._count % 2 == 0 and self._count and (self._is_near & is_open).any():
            return self._farthest(self._is_near & is_open)
        seems_us = (self._tie_us * AGAIN**self._tried_of)[self._tie]
        seems_us[tried.closed] = np.inf
        return self._farthest((self._tie == self._tie[np.argmin(seems_us)]) & is_open)

    def begin(self, row: int, mine: bool) -> None:
        """Keep away from the row."""
        self._tried_of[self._tie[row]] += 1
        self._count += 1
        self._nearest = np.minimum(self._nearest, self._space.distances(self._space.ranks(row)))

    def end(self, row: int, log_us: float) -> None:
        """Nothing: the order is known before."""

    def _farthest(self, among: NDArray[np.bool_]) -> int:
        """Of these rows, the farthest from all that was tried; of several the fastest."""
        rows = np.flatnonzero(among)
        rows = rows[np.argsort(self._tie[rows], kind="stable")]
        return int(rows[np.argmax(self._nearest[rows])])
