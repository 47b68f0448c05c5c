"""Sampler of every search: given rows first, then random ones, then those of named samplers."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from tuner.search.method import DONOR, STARTUP
from tuner.search.samplers.parameters import Parameters
from tuner.search.samplers.projected import ProjectedSampler
from tuner.search.samplers.row_sampler import RowSampler
from tuner.search.tried import Tried

RANDOM = "random"
_LEADS = 4  # trials of which a donor is the fastest before random rows are opposite to it
_LAST = 0.05  # share of the trials in which the last sampler is the other one


class PortfolioSampler(RowSampler):
    """The first of some named samplers after the startup, or with the probability `doubt` another.

    The other is the second, and among the last of `trials`, if known, the last. `first` are rows with the name of their
    proposer, which replace random ones. Unless a donor is the fastest, the startup also ends after `draws` random rows.
    Samples depend only on the seed, the outcomes and the pending trials, in order: the same history gives the same
    samples.
    """

    def __init__(
        self,
        parameters: Parameters,
        tried: Tried,
        samplers: Mapping[str, RowSampler],
        first: Sequence[tuple[int, str]] = (),
        trials: int | None = None,
        startup: int = STARTUP,
        draws: int = STARTUP,
        doubt: Callable[[Tried], float] | None = None,
    ) -> None:
        super().__init__(parameters, tried)
        self._samplers, self._first = samplers, first
        self._by: dict[int, str] = {}
        self._given: tuple[int, str | None] | None = None
        self._startup, self._draws, self._doubt = startup, draws, doubt
        self._ends_at = trials - math.ceil(_LAST * trials) if trials is not None else math.inf

    def give(self, row: int, by: str | None) -> None:
        """Use this row, which an earlier run or another process chose, for the next trial of the study."""
        self._given = row, by

    def proposer(self, row: int) -> str | None:
        """Return the name of the sampler that chose a row."""
        return self._by.get(row)

    def choose(self, study: Study, trial: FrozenTrial) -> int:
        """Return the next row, and mark it as tried."""
        row, by = self._resumed(study, trial) or self._next_first() or self._sampled(study, trial)
        if by is not None:
            self._by[row] = by
        self.tried.begin(row)
        return row

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Notify the sampler whose trial ended; a trial without a value has no time."""
        row = self.parameters.row(trial.params)
        self.tried.end(row, math.log(values[0]) if values else math.inf)
        if (sampler := self._samplers.get(self._by.get(row, ""))) is not None:
            sampler.after_trial(study, trial, state, values)

    def _resumed(self, study: Study, trial: FrozenTrial) -> tuple[int, str | None] | None:
        given, self._given = self._given, None
        if given is not None and isinstance(sampler := self._samplers.get(given[1] or ""), ProjectedSampler):
            sampler.resume(study, trial)
        return given

    def _next_first(self) -> tuple[int, str] | None:
        return next(((row, by) for row, by in self._first if not self.tried.closed[row]), None)

    def _sampled(self, study: Study, trial: FrozenTrial) -> tuple[int, str]:
        if self._is_startup():
            return self._drawn(), RANDOM
        name, *others = self._samplers
        if self._doubt is not None and self._random() < self._doubt(self.tried):
            name = others[-1 if len(self.tried) >= self._ends_at else 0]
        return self._samplers[name].choose(study, trial), name

    def _random(self) -> float:
        """Return a random number, independent of those that samplers draw for the same row."""
        return np.random.default_rng(self.tried.entropy.spawn(1)[0]).random()

    def _drawn(self) -> int:
        """Return a random row; while a donor is the fastest of several trials, one that is opposite to it.

        A donor may be the best of a region where nothing is faster, and its samplers would then stay there.
        """
        best = self.tried.best
        if best is not None and self._donor_leads() and len(self.tried) >= _LEADS:
            return self.tried.opposite_open(best)
        return self.tried.random_open()

    def _is_startup(self) -> bool:
        drawn = list(self._by.values()).count(RANDOM)
        return len(self.tried) < self._startup and (drawn < self._draws or self._donor_leads())

    def _donor_leads(self) -> bool:
        best = self.tried.best
        return best is not None and self._by.get(best) == DONOR
