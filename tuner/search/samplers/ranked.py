"""Sampler by predicted times: alternately the best, and the most different of those near the best."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from optuna.study import Study
from optuna.trial import FrozenTrial

from tuner.search.samplers.parameters import Parameters
from tuner.search.samplers.row_sampler import RowSampler
from tuner.search.tried import Tried
from tuner.space.space import Space

NEAR = 1.5
"""Factor over the best predicted time within which different configurations are chosen."""
AGAIN = 1.01
"""Factor by which each proposed row of a tie increases the times of the remaining ones."""
_TIE = 1e-6  # relative difference below which times differ only by summation order


class RankedSampler(RowSampler):
    """Sampler by `times_us`, the predicted time of each row; deterministic and independent of outcomes.

    The difference of rows is their number of steps along the axes. Of a tie, which may have hundreds of rows,
    the most different comes first, and the others are deferred behind rows that are almost as fast.
    """

    def __init__(self, parameters: Parameters, tried: Tried, times_us: NDArray[np.float64]) -> None:
        super().__init__(parameters, tried)
        self._is_near = times_us <= NEAR * times_us.min()
        _, first, tie = np.unique(np.round(np.log(times_us) / _TIE), return_index=True, return_inverse=True)
        self._tie, self._tie_us = tie, times_us[first]
        self._tried_of = np.zeros(len(first), dtype=np.int64)  # rows of each tie
        self._nearest = np.full(len(times_us), np.iinfo(np.int64).max)  # steps from each row to the nearest tried one
        self._seen = 0  # tried rows that the two arrays above include

    def choose(self, study: Study, trial: FrozenTrial) -> int:
        """Return alternately the next best row and the most different one."""
        return self.next_row()

    def next_row(self) -> int:
        """Return the row to try next."""
        self._count_tried()
        is_open = ~self.tried.closed
        if self._seen % 2 == 0 and self._seen and (self._is_near & is_open).any():
            return self._farthest(self._is_near & is_open)
        seems_us = (self._tie_us * AGAIN**self._tried_of)[self._tie]
        seems_us[self.tried.closed] = np.inf
        return self._farthest((self._tie == self._tie[np.argmin(seems_us)]) & is_open)

    def _count_tried(self) -> None:
        space = self.tried.space
        for row in self.tried.rows[self._seen :]:
            self._tried_of[self._tie[row]] += 1
            self._nearest = np.minimum(self._nearest, space.distances(space.ranks(row)))
        self._seen = len(self.tried)

    def _farthest(self, among: NDArray[np.bool_]) -> int:
        """Return the row of these that is farthest from all rows tried; on ties the fastest."""
        rows = np.flatnonzero(among)
        rows = rows[np.argsort(self._tie[rows], kind="stable")]
        return int(rows[np.argmax(self._nearest[rows])])


def first_ranked(space: Space[Any], times_us: NDArray[np.float64], count: int) -> list[int]:
    """Return the rows that a ranking by predicted times samples first."""
    tried = Tried(space, 0)
    sampler = RankedSampler(Parameters(space), tried, times_us)
    for _ in range(min(count, len(space))):
        tried.begin(sampler.next_row())
    return tried.rows
