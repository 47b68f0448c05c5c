"""A proposer for where nothing can be measured: in turn the best by predicted time, and the most different of these."""

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tuner.space import Space

C = TypeVar("C")

NEAR = 1.5
"""Different configurations are looked for among those predicted within this factor of the best."""


class RankedProposer(Generic[C]):
    """Proposes configurations of a space, none twice: the next best, then of those near the best the most different.

    Different are those that are many steps along the axes away from all that was proposed. `times_us` are predicted,
    for each row of the space. In memory: rebuild it by telling the history again. Equal histories give equal proposals.
    """

    def __init__(self, space: Space[C], times_us: NDArray[np.float64]) -> None:
        self._space = space
        self._order = np.argsort(times_us, kind="stable")
        near = int(np.searchsorted(times_us[self._order], NEAR * times_us.min(), side="right"))
        self._near = self._order[:near]
        self._nearest = np.full(near, np.iinfo(np.int64).max)  # steps from each of these to what was proposed
        self._seen = np.zeros(len(space), dtype=np.bool_)
        self._count = 0

    def propose(self) -> C | None:
        """The next configuration to try; None when all were."""
        row = self._best() if self._count % 2 or not self._count else self._most_different()
        if row is None:
            return None
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

    def _best(self) -> int | None:
        unseen = np.flatnonzero(~self._seen[self._order])
        return int(self._order[unseen[0]]) if len(unseen) else None

    def _most_different(self) -> int | None:
        steps = np.where(self._seen[self._near], -1, self._nearest)
        farthest = int(np.argmax(steps))  # of several the fastest
        return int(self._near[farthest]) if steps[farthest] >= 0 else self._best()

    def _add(self, row: int) -> None:
        self._seen[row] = True
        self._count += 1
        self._nearest = np.minimum(self._nearest, self._space.distances(self._space.ranks(row))[self._near])
