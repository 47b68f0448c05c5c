"""The proposer: owns what is legal and what was tried, and learns which of its strategies pays on this job."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tuner.search.credit import Credit
from tuner.search.proposer import Proposal, Strategy
from tuner.search.tried import Tried
from tuner.space.space import Space

C = TypeVar("C")

STARTUP = 8
"""Configurations that are given, or drawn at random, before strategies propose."""
RANDOM = "random"
_LAST = 0.05  # part of the trials that is kept for the last strategy


class Portfolio(Generic[C]):
    """Proposes configurations of a space, none twice. In memory: rebuild it by telling the history again.

    Proposals depend on the seed, on what was told and on what is proposed and not yet told, in that order; not
    on when the proposer was made.

    `first` are rows and who proposes them, in place of those drawn at random, and `dropped` are rows that never are.
    The last of `trials`, where these are known, go to the strategy named `last`. A strategy of which `doubts` says that
    it is lost is not asked, where there is another.
    """

    def __init__(
        self,
        space: Space[C],
        seed: int,
        strategies: Mapping[str, Strategy],
        first: Sequence[tuple[int, str]] = (),
        dropped: NDArray[np.bool_] | None = None,
        trials: int | None = None,
        last: str | None = None,
        startup: int = STARTUP,
        doubts: Mapping[str, Callable[[Tried], bool]] | None = None,
    ) -> None:
        self._space, self._seed, self._strategies = space, seed, strategies
        self._first, self._tried = first, Tried(space, dropped)
        self._by: dict[int, str] = {}  # who proposed a row
        self._credit = Credit([name for name in strategies if name != last or len(strategies) == 1])
        self._last, self._startup, self._doubts = last, startup, doubts or {}
        self._search_until = trials - math.ceil(_LAST * trials) if trials is not None and last is not None else None

    def propose(self) -> Proposal[C] | None:
        """The next configuration to try; None when all were."""
        if self._tried.closed.all():
            return None
        entropy = np.random.SeedSequence([self._seed, len(self._tried)])
        row, by = self._given() or self._chosen(entropy)
        self._begin(row, by)
        return Proposal(self._space.config(row), by)

    def tell(self, config: C, time_us: float | None, by: str | None = None) -> None:
        """What became of a configuration, proposed here or not; None when it gave no time."""
        row = self._space.index(config)
        if row is None or row in self._tried.log_us:
            return
        if not self._tried.has(row):
            self._begin(row, by)
        log_us = math.log(time_us) if time_us is not None else math.inf
        by = self._by.get(row)
        if by is not None and by in self._strategies:
            self._credit.pay(by, log_us, self._tried)
        self._tried.end(row, log_us)
        for strategy in self._strategies.values():
            strategy.end(row, log_us)

    def skip(self, config: C) -> None:
        """Never propose a configuration: someone else is trying it."""
        row = self._space.index(config)
        if row is not None and not self._tried.has(row):
            self._begin(row, None)

    def _given(self) -> tuple[int, str] | None:
        """What was given to begin with, as long as there is some."""
        return next(((row, by) for row, by in self._first if not self._tried.closed[row]), None)

    def _chosen(self, entropy: np.random.SeedSequence) -> tuple[int, str]:
        if len(self._tried) < self._startup:
            return int(np.random.default_rng(entropy).choice(self._tried.open())), RANDOM
        if self._last is not None and self._search_until is not None and len(self._tried) >= self._search_until:
            name = self._last
        else:
            name = self._credit.choice()
            if name in self._doubts and self._doubts[name](self._tried):
                name = self._credit.choice(without=name)
        return self._strategies[name].choose(self._tried, entropy), name

    def _begin(self, row: int, by: str | None) -> None:
        if by is not None:
            self._by[row] = by
            if by in self._strategies:
                self._credit.begin(by)
        self._tried.begin(row)
        for name, strategy in self._strategies.items():
            strategy.begin(row, name == by)
