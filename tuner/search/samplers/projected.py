"""External samplers, whose suggestions are projected onto the legal untried rows."""

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from tuner.errors import UnknownSearch
from tuner.search.repair import nearest_unseen
from tuner.search.samplers.known_space_tpe import KnownSpaceTpe
from tuner.search.samplers.parameters import Parameters
from tuner.search.samplers.row_sampler import RowSampler
from tuner.search.tried import Tried


class ProjectedSampler(RowSampler):
    """Sampler of the open row nearest to another sampler's suggestion. The study records that row.

    `make` constructs the sampler for a seed. Optuna's samplers keep their state in the study and are
    constructed for every ask, so that equal seeds and outcomes give equal suggestions after a resume, too.
    Any other, `is_stateful`, is constructed once.
    """

    def __init__(
        self, parameters: Parameters, tried: Tried, make: Callable[[int], BaseSampler], *, is_stateful: bool = False
    ) -> None:
        super().__init__(parameters, tried)
        self._make = make
        self._sampler = make(tried.seed)
        self._is_stateful = is_stateful

    def choose(self, study: Study, trial: FrozenTrial) -> int:
        """Return the open row nearest to the suggestion."""
        ranks = self.parameters.ranks(self._suggested(study, trial))
        rng = np.random.default_rng(self.tried.entropy)
        row = nearest_unseen(self.tried.space, ranks, self.tried.closed, rng)
        assert row is not None  # some row is open
        return row

    def resume(self, study: Study, trial: FrozenTrial) -> None:
        """Let the sampler annotate a trial that it suggested in an earlier run: CMA-ES and NSGA-II read these
        attributes.
        """
        if not isinstance(self._sampler, KnownSpaceTpe):
            self._suggested(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Notify the sampler of the end of its trial."""
        self._sampler.after_trial(study, trial, state, values)

    def _suggested(self, study: Study, trial: FrozenTrial) -> dict[str, Any]:
        if not self._is_stateful:
            self._sampler = self._make(int(self.tried.entropy.generate_state(1)[0]))
        try:
            return self._parameters_of(self._sampler, study, trial)
        except ImportError as error:  # Optuna imports what a sampler needs when it samples
            raise UnknownSearch(
                type(self._sampler).__name__, f"it needs a package that is not installed: {error}"
            ) from error

    def _parameters_of(self, sampler: BaseSampler, study: Study, trial: FrozenTrial) -> dict[str, Any]:
        sampler.before_trial(study, trial)
        params = sampler.sample_relative(study, trial, sampler.infer_relative_search_space(study, trial))
        partial = copy(trial)  # independent samplers may read the parameters that the trial has so far
        for name, distribution in self.parameters.distributions.items():
            if name not in params:
                partial.params, partial.distributions = params, {n: self.parameters.distributions[n] for n in params}
                params = {**params, name: sampler.sample_independent(study, partial, name, distribution)}
        return params
