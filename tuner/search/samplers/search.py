"""Ask-and-tell search: an Optuna study over the configurations of a space."""

from collections.abc import Callable
from typing import Generic, TypeVar

import optuna
from optuna.study import StudyDirection
from optuna.study._tell import _tell_with_warning  # pyright: ignore[reportPrivateUsage]  (`tell` copies the trial)
from optuna.trial import FrozenTrial, Trial, TrialState

from tuner.search.blas import one_thread
from tuner.search.proposal import Proposal
from tuner.search.samplers.portfolio import PortfolioSampler
from tuner.space.space import Space

C = TypeVar("C")


class Search(Generic[C]):
    """Ask-and-tell interface to one Optuna study, in memory. After a restart it is rebuilt from the trials so far.

    The space defines the legal configurations; none is proposed twice. Values of the study are times in
    microseconds, and with `cost` a second objective of a row. A trial without a time is pruned, with the user
    attribute `reason`: TPE treats it as worse than any time. `proposer` names the sampler that chose it.
    """

    def __init__(self, space: Space[C], sampler: PortfolioSampler, cost: Callable[[int], float] | None = None) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._space, self._sampler, self._cost = space, sampler, cost
        directions = [StudyDirection.MINIMIZE] * (1 if cost is None else 2)
        self.study = optuna.create_study(directions=directions, sampler=sampler)
        self._running: dict[int, Trial] = {}
        self._asked: dict[C, int] = {}

    @property
    def size(self) -> int:
        """Number of configurations of the space."""
        return len(self._space)

    @property
    def version(self) -> str:
        """Hash of the space."""
        return self._space.version

    def ask(self) -> Proposal[C] | None:
        """Return the next configuration to try; None when all were tried."""
        if self._sampler.tried.closed.all():
            return None
        with one_thread():
            row = self._begin()
        by = self._sampler.proposer(row)
        assert by is not None  # a sampler chose it
        config = self._space.config(row)
        self._asked[config] = row
        return Proposal(config, by)

    def tell(self, config: C, time_us: float | None, by: str | None = None, reason: str | None = None) -> None:
        """Record the outcome of a configuration, proposed here or not; `time_us` is None if it has no time.

        `by` names its proposer if an earlier run proposed it, `reason` says why it has no time.
        """
        row, tried = self._asked.pop(config, None), self._sampler.tried
        row = self._space.index(config) if row is None else row
        if row is None or row in tried.log_us:
            return
        if not tried.has(row):
            self._begin(row, by)
        trial = self._running.pop(row)
        if time_us is None:
            trial.set_user_attr("reason", reason)
            _tell_with_warning(self.study, trial, state=TrialState.PRUNED)
        else:
            _tell_with_warning(self.study, trial, time_us if self._cost is None else [time_us, self._cost(row)])

    def skip(self, config: C) -> None:
        """Exclude a configuration that is being tried elsewhere."""
        row = self._space.index(config)
        if row is not None and not self._sampler.tried.has(row):
            self._begin(row, None)

    def _begin(self, given: int | None = None, by: str | None = None) -> int:
        """Ask the study for a trial of a given row, or of one that its sampler chooses."""
        if given is not None:
            self._sampler.give(given, by)
        trial, parameters = self.study.ask(), self._sampler.parameters
        row = self._sampler.choose(self.study, self._stored())
        # All at once: Optuna would compare the distribution of each parameter with that of earlier trials, twice.
        stored = self._stored()
        stored.params, stored.distributions = parameters.of(row), parameters.distributions
        if (by := self._sampler.proposer(row)) is not None:
            trial.set_user_attr("proposer", by)
        self._running[row] = trial
        return row

    def _stored(self) -> FrozenTrial:
        """Return the newest trial itself, which the sampler may have annotated."""
        return self.study.get_trials(deepcopy=False)[-1]
