"""Sampler by a Gaussian process: the greatest expected improvement over the best time."""

from optuna.study import Study
from optuna.trial import FrozenTrial

from tuner.search.gp import GaussianProcess
from tuner.search.samplers.parameters import Parameters
from tuner.search.samplers.row_sampler import RowSampler
from tuner.search.tried import Tried


class GaussianProcessSampler(RowSampler):
    """Sampler of the open row of greatest expected improvement; random while observations are too few."""

    def __init__(self, parameters: Parameters, tried: Tried, process: GaussianProcess) -> None:
        super().__init__(parameters, tried)
        self._process = process

    def choose(self, study: Study, trial: FrozenTrial) -> int:
        """Return the row of greatest expected improvement."""
        row = self._process.most_promising(self.tried)
        return row if row is not None else self.tried.random_open()
