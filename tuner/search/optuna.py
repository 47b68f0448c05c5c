"""The one door to Optuna: its TPE proposes, the space owns what is legal and what was tried."""

import math
from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np
import optuna
from numpy.typing import NDArray
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.trial import FrozenTrial, TrialState, create_trial

from tuner.search.repair import nearest_unseen
from tuner.space import Space

C = TypeVar("C")

STARTUP = 10
"""Configurations that are given, or drawn at random, before TPE proposes."""


class OptunaProposer(Generic[C]):
    """Proposes configurations of a space, none twice. In memory: rebuild it by telling the history again.

    Proposals depend on the seed, on what was told and on what is proposed and not yet told, in that order; not
    on when the proposer was made. Proposed and untold configurations count as bad, so that a batch spreads out.

    `first` are rows that are proposed in place of those drawn at random, and `dropped` are rows that never are.
    """

    def __init__(
        self, space: Space[C], seed: int, first: Sequence[int] = (), dropped: NDArray[np.bool_] | None = None
    ) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._space, self._seed = space, seed
        self._study = optuna.create_study(direction="minimize")
        self._distributions: dict[str, BaseDistribution] = {
            # Ranks as categories: on recorded GEMM spaces better than as integers (.98 against .92 at 100).
            axis.name: CategoricalDistribution(tuple(range(len(axis.values))))
            for axis in space.axes
            if len(axis.values) > 1  # where nothing is to choose, asking costs time
        }
        self._first = first
        self._dropped = dropped if dropped is not None else np.zeros(len(space), dtype=np.bool_)
        self._seen = np.zeros(len(space), dtype=np.bool_)
        self._pending: dict[int, int] = {}  # row of the space: number of the trial in the study
        self._count = 0

    def propose(self) -> C | None:
        """The next configuration to try; None when all were."""
        entropy = np.random.SeedSequence([self._seed, self._count])
        rng = np.random.default_rng(entropy)
        closed = self._seen | self._dropped
        if closed.all():
            return None
        if self._count < STARTUP:
            row = next((row for row in self._first if not closed[row]), int(rng.choice(np.flatnonzero(~closed))))
        else:
            found = nearest_unseen(self._space, self._suggest(int(entropy.generate_state(1)[0])), closed, rng)
            assert found is not None  # some row is unseen
            row = found
        self._pending[row] = self._add(row, TrialState.RUNNING, None)
        return self._space.config(row)

    def tell(self, config: C, time_us: float | None) -> None:
        """What became of a configuration, proposed here or not; None when it gave no time."""
        row = self._space.index(config)
        if row is None:
            return
        value = math.log(time_us) if time_us is not None else math.inf
        if row in self._pending:
            self._study.tell(self._pending.pop(row), value)
        elif not self._seen[row]:
            self._add(row, TrialState.COMPLETE, value)

    def skip(self, config: C) -> None:
        """Never propose a configuration: someone else is trying it."""
        row = self._space.index(config)
        if row is not None and not self._seen[row]:
            self._pending[row] = self._add(row, TrialState.RUNNING, None)

    def _suggest(self, seed: int) -> tuple[int, ...]:
        self._study.sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=STARTUP)
        trial = self._study.ask(self._distributions)
        # What is told is the repaired configuration, so this trial must not count.
        self._study.tell(trial, state=TrialState.FAIL)
        return tuple(int(trial.params.get(axis.name, 0)) for axis in self._space.axes)

    def _add(self, row: int, state: TrialState, value: float | None) -> int:
        ranks = zip(self._space.axes, self._space.ranks(row), strict=True)
        params = {axis.name: rank for axis, rank in ranks if axis.name in self._distributions}
        trial: FrozenTrial = create_trial(state=state, value=value, params=params, distributions=self._distributions)
        self._study.add_trial(trial)
        self._seen[row] = True
        self._count += 1
        return len(self._study.get_trials(deepcopy=False)) - 1
