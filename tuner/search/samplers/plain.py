"""Samplers that do not learn: uniformly random, and in order."""

import numpy as np
from optuna.study import Study
from optuna.trial import FrozenTrial

from tuner.search.samplers.row_sampler import RowSampler


class RandomRowSampler(RowSampler):
    """Uniform sampler of open rows."""

    def choose(self, study: Study, trial: FrozenTrial) -> int:
        """Return a random open row."""
        return self.tried.random_open()


class InOrderSampler(RowSampler):
    """Sampler of all rows in the order of the space."""

    def choose(self, study: Study, trial: FrozenTrial) -> int:
        """Return the first open row."""
        return int(np.argmin(self.tried.closed))
