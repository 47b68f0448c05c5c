"""The one door to Optuna: its samplers suggest, the space owns what is legal and what was tried."""

from collections.abc import Callable
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.samplers import BaseSampler, CmaEsSampler, NSGAIISampler, TPESampler
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, Trial, TrialState, create_trial

from tuner.search.repair import nearest_unseen
from tuner.search.tried import Tried
from tuner.space.space import (
    Axis,
    Ranks,
    Space,
)

_TPE_STARTUP = 8
_OFFSPRING = 16  # of a generation of NSGA-II
_FAILED = 50.0  # logarithm of a time in us beyond all: generations must order what failed


class _KnownSpaceTpe(TPESampler):
    """TPE that is told its space: finding it out again from all trials takes most of the time of an ask."""

    def __init__(self, distributions: dict[str, BaseDistribution], seed: int) -> None:
        super().__init__(seed=seed, n_startup_trials=_TPE_STARTUP)
        self._distributions = dict(sorted(distributions.items()))

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """All axes, in the order of their names as the sampler itself has them."""
        return self._distributions


class Tpe:
    """Tree-structured Parzen estimators. Rows that are being tried count as bad, so that a batch spreads out."""

    def __init__(self, space: Space[Any]) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._space = space
        # Ranks as categories: on recorded GEMM spaces better than as integers (.98 against .92 at 100).
        self._distributions: dict[str, BaseDistribution] = {
            axis.name: CategoricalDistribution(tuple(range(len(axis.values)))) for axis in _choices(space)
        }
        self._study = optuna.create_study(direction="minimize")
        self._numbers: dict[int, int] = {}  # row of the space: number of the trial in the study

    def choose(self, tried: Tried, entropy: np.random.SeedSequence) -> int:
        """The open row nearest to what is suggested."""
        seed = int(entropy.generate_state(1)[0])
        self._study.sampler = _KnownSpaceTpe(self._distributions, seed)
        trial = self._study.ask(self._distributions)
        # What is told is the repaired configuration, so this trial must not count.
        self._study.tell(trial, state=TrialState.FAIL)
        return _repaired(tried, _ranks(self._space, trial), entropy)

    def begin(self, row: int, mine: bool) -> None:
        """Keep the row as one that runs."""
        ranks = zip(self._space.axes, self._space.ranks(row), strict=True)
        params = {axis.name: rank for axis, rank in ranks if axis.name in self._distributions}
        trial: FrozenTrial = create_trial(state=TrialState.RUNNING, params=params, distributions=self._distributions)
        self._study.add_trial(trial)
        self._numbers[row] = len(self._study.get_trials(deepcopy=False)) - 1

    def end(self, row: int, log_us: float) -> None:
        """Tell the row's time."""
        self._study.tell(self._numbers.pop(row), log_us)


class Evolution:
    """A sampler that breeds generations: CMA-ES, or NSGA-II with a second objective. It learns from its own rows alone.

    What it suggests is told the values of the open row nearest to it. `cost` is the second objective of a row.
    """

    def __init__(
        self, space: Space[Any], seed: int, sampler: Callable[[int], BaseSampler], cost: Callable[[int], float] | None
    ) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._space, self._seed, self._sampler, self._cost = space, seed, sampler, cost
        self._distributions: dict[str, BaseDistribution] = {
            axis.name: IntDistribution(0, len(axis.values) - 1) for axis in _choices(space)
        }
        self._study = optuna.create_study(directions=[StudyDirection.MINIMIZE] * (1 if cost is None else 2))
        self._asked: Trial | None = None
        self._asks = 0
        self._mine: dict[int, Trial] = {}

    def choose(self, tried: Tried, entropy: np.random.SeedSequence) -> int:
        """The open row nearest to what is suggested."""
        self._asked = self._ask()
        return _repaired(tried, _ranks(self._space, self._asked), entropy)

    def begin(self, row: int, mine: bool) -> None:
        """Keep what was suggested for the row; an earlier run's was suggested in the same order."""
        if mine:
            self._mine[row] = self._asked or self._ask()
        self._asked = None

    def end(self, row: int, log_us: float) -> None:
        """Tell the row's time, if it was suggested here."""
        trial = self._mine.pop(row, None)
        if trial is not None:
            time = min(log_us, _FAILED)
            self._study.tell(trial, time if self._cost is None else [time, self._cost(row)])

    def _ask(self) -> Trial:
        self._asks += 1
        entropy = np.random.SeedSequence([self._seed, self._asks])
        self._study.sampler = self._sampler(int(entropy.generate_state(1)[0]))
        return self._study.ask(self._distributions)


def cma_es(space: Space[Any], seed: int) -> Evolution:
    """Covariance matrix adaptation over the ranks of the axes."""
    # The start is the middle of each axis, the step a sixth of it: the sampler's own.
    return Evolution(
        space, seed, lambda seed: CmaEsSampler(seed=seed, n_startup_trials=0, warn_independent_sampling=False), None
    )


def nsga_2(space: Space[Any], seed: int, cost: Callable[[int], float]) -> Evolution:
    """Non-dominated sorting: fast rows, and rows that cost less."""
    return Evolution(space, seed, lambda seed: NSGAIISampler(seed=seed, population_size=_OFFSPRING), cost)


def _choices(space: Space[Any]) -> list[Axis]:
    """Axes of more than one value: where nothing is to choose, asking costs time."""
    return [axis for axis in space.axes if len(axis.values) > 1]


def _ranks(space: Space[Any], trial: Trial) -> Ranks:
    return tuple(int(trial.params.get(axis.name, 0)) for axis in space.axes)


def _repaired(tried: Tried, ranks: Ranks, entropy: np.random.SeedSequence) -> int:
    """The open row nearest to a suggestion."""
    row = nearest_unseen(tried.space, ranks, tried.closed, np.random.default_rng(entropy))
    assert row is not None  # some row is open
    return row
