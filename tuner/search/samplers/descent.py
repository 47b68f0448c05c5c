"""Sampler of a local search: neighbours of the best configuration, one step away first."""

import numpy as np
from optuna.study import Study
from optuna.trial import FrozenTrial

from tuner.search.gp import GaussianProcess
from tuner.search.samplers.parameters import Parameters
from tuner.search.samplers.row_sampler import RowSampler
from tuner.search.tried import Tried


class DescentSampler(RowSampler):
    """Sampler of the row of least expected time among the open rows that differ from the best in the fewest parameters.

    While the Gaussian process has too few observations, it takes the nearest of these, ties broken at random.
    """

    def __init__(self, parameters: Parameters, tried: Tried, process: GaussianProcess) -> None:
        super().__init__(parameters, tried)
        self._process = process

    def choose(self, study: Study, trial: FrozenTrial) -> int:
        """Return a row near the best one; a random one while none has a time."""
        tried = self.tried
        if tried.best is None:
            return tried.random_open()
        rows, points = tried.open(), tried.space.points
        steps = np.abs(points[rows] - points[tried.best])
        choices = (steps > 0).sum(axis=1)
        near = rows[choices == choices.min()]
        expected = self._process.expected(tried)
        if expected is None:
            fewest = steps[choices == choices.min()].sum(axis=1)
            return int(np.random.default_rng(tried.entropy).choice(near[fewest == fewest.min()]))
        means = np.full(len(tried.space), np.inf)
        means[expected.rows] = expected.mean
        return int(near[np.argmin(means[near])])
