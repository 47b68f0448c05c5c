"""A proposer for where nothing can be measured: in turn the best by predicted time, and the most different of these."""

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tuner.space import Space

C = TypeVar("C")

NEAR = 1.5
"""Different configurations are looked for among those predicted within this factor of the best."""
AGAIN = 1.01
"""Of those that the model cannot tell apart, each that was proposed makes the others seem slower by this factor."""
_TIE = 1e-6  # times that differ by less, relative, differ by the order of sums


class RankedProposer(Generic[C]):
    """Proposes configurations of a space, none twice: the next best, then of those near the best the most different.

    Different are those that are many steps along the axes away from all that was proposed. Of a tie, which may be of
    hundreds, the most different comes first, and the others wait for what is almost as fast. `times_us` are predicted,
    for each row of the space. In memory: rebuild it by telling the history again. Equal histories give equal proposals.
    """

    def __init__(self, space: Space[C], times_us: NDArray[np.float64]) -> None:
        self._space = space
        self._is_near = times_us <= NEAR * times_us.min()
        _, first, tie = np.unique(np.round(np.log(times_us) / _TIE), return_index=True, return_inverse=True)
        self._tie, self._tie_us = tie, times_us[first]
        self._proposed = np.zeros(len(first), dtype=np.int64)  # of each tie
        self._nearest = np.full(len(space), np.iinfo(np.int64).max)  # steps from each row to what was proposed
        self._seen = np.zeros(len(space), dtype=np.bool_)
        self._count = 0

    def propose(self) -> C | None:
        """The next configuration to try; None when all were."""
        if self._seen.all():
            return None
        row = self._best() if self._count % 2 or not self._count else self._most_different()
        self._add(row)
        return self._space.config(row)

    def tell(self, config: C, time_us: float | None) -> None:
        """That a configuration was tried, proposed here or not; what became of it changes nothing."""
        self.skip(config)

    def skip(self, config: C) -> None:
        """Never propose a configuration: someone else is trying it."""
        row = self._space.index(config)
        if row is not None and not self._seen[row]:
            self._add(row)

    def _best(self) -> int:
        seems_us = (self._tie_us * AGAIN**self._proposed)[self._tie]
        seems_us[self._seen] = np.inf
        return self._farthest(self._tie == self._tie[np.argmin(seems_us)])

    def _most_different(self) -> int:
        return self._farthest(self._is_near) if (self._is_near & ~self._seen).any() else self._best()

    def _farthest(self, among: NDArray[np.bool_]) -> int:
        """Of the unseen rows, the farthest from all that was proposed; of several the fastest."""
        rows = np.flatnonzero(among & ~self._seen)
        rows = rows[np.argsort(self._tie[rows], kind="stable")]
        return int(rows[np.argmax(self._nearest[rows])])

    def _add(self, row: int) -> None:
        self._seen[row] = True
        self._proposed[self._tie[row]] += 1
        self._count += 1
        self._nearest = np.minimum(self._nearest, self._space.distances(self._space.ranks(row)))
