"""TPE over a given space of categories: all parameters at once, and each trial read once.

Optuna's own estimator takes some hundred calls of numpy for each parameter and proposal. The samples are the same.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.samplers import TPESampler
from optuna.samplers._tpe.parzen_estimator import (
    _ParzenEstimator,  # pyright: ignore[reportPrivateUsage]  (TPE takes no other estimator)
    _ParzenEstimatorParameters,  # pyright: ignore[reportPrivateUsage]
)
from optuna.study import Study
from optuna.trial import FrozenTrial

from tuner.search.method import STARTUP

Floats = NDArray[np.float64]
Ranks = NDArray[np.int64]


class KnownSpaceTpe(TPESampler):
    """TPE with a given search space: inferring it from all trials takes most of the time of an ask.

    `known` keeps the places of the values of each trial that ended, for the sampler of the next ask.
    """

    def __init__(
        self, distributions: dict[str, BaseDistribution], seed: int, known: dict[int, list[int]] | None = None
    ) -> None:
        super().__init__(seed=seed, n_startup_trials=STARTUP)
        self._distributions = dict(sorted(distributions.items()))
        self._known = {} if known is None else known

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return all parameters, sorted by name as in TPE itself."""
        return self._distributions

    def _build_parzen_estimator(
        self, study: Study, search_space: dict[str, BaseDistribution], trials: list[FrozenTrial], handle_below: bool
    ) -> "_Estimator":
        ranks = np.array([self._ranks_of(trial) for trial in trials], dtype=np.int64)
        return _Estimator(ranks, search_space, self._parzen_estimator_parameters)

    def _ranks_of(self, trial: FrozenTrial) -> list[int]:
        if (known := self._known.get(trial.number)) is None:
            params = trial.params
            known = [int(of.to_internal_repr(params[name])) for name, of in self._distributions.items()]
            self._known[trial.number] = known
        return known


class _Estimator(_ParzenEstimator):
    """Mixture of one product of categorical distributions for each of `ranks`, [trials, parameters], and a prior."""

    def __init__(
        self, ranks: Ranks, search_space: dict[str, BaseDistribution], parameters: _ParzenEstimatorParameters
    ) -> None:
        self._search_space = search_space
        weights = np.append(self._call_weights_func(parameters.weights, len(ranks)), [parameters.prior_weight])
        self._weights = weights / weights.sum()
        sizes = np.array([len(_choices(of)) for of in search_space.values()])
        places = np.arange(sizes.max())
        is_value = places < sizes[:, None]
        self._is_last = places >= sizes[:, None] - 1  # also beyond, where there is no value
        self._axes = np.arange(len(sizes))
        table = np.repeat(
            np.where(is_value, parameters.prior_weight / len(weights), 0.0)[:, None], len(weights), axis=1
        )
        table[self._axes[:, None], np.arange(len(ranks)), ranks.T] += 1
        table /= table.sum(axis=-1, keepdims=True)
        self._table, self._logs = table, np.log(np.where(is_value[:, None], table, 1.0))

    def sample(self, rng: np.random.RandomState, size: int) -> dict[str, Floats]:
        """Return values of each parameter, as places."""
        active = rng.choice(len(self._weights), p=self._weights, size=size)
        drawn = rng.rand(len(self._axes), size)
        cumulated = np.cumsum(self._table[:, active], axis=-1)
        cumulated[np.broadcast_to(self._is_last[:, None], cumulated.shape)] = 1.0
        found = (cumulated < drawn[..., None]).sum(axis=-1).astype(np.float64)
        return dict(zip(self._search_space, found, strict=True))

    def log_pdf(self, samples_dict: dict[str, Floats]) -> Floats:
        """Return the logarithm of the probability of each sample."""
        places = np.array([samples_dict[name] for name in self._search_space]).astype(np.int64)
        logs = self._logs[self._axes[:, None], :, places].sum(axis=0) + np.log(self._weights)
        most = logs.max(axis=1)
        return np.log(np.exp(logs - most[:, None]).sum(axis=1)) + most


def _choices(distribution: BaseDistribution) -> tuple[Any, ...]:
    assert isinstance(distribution, CategoricalDistribution)  # those of TPE are
    return distribution.choices
