"""The strategies that learn nothing: at random, and one after another."""

import numpy as np

from tuner.search.tried import Tried


class _Unlearned:
    def begin(self, row: int, mine: bool) -> None:
        """Nothing: it does not learn."""

    def end(self, row: int, log_us: float) -> None:
        """Nothing: it does not learn."""


class Random(_Unlearned):
    """Any open row, all as likely."""

    def choose(self, tried: Tried, entropy: np.random.SeedSequence) -> int:
        """One drawn at random."""
        return int(np.random.default_rng(entropy).choice(tried.open()))


class Exhaustive(_Unlearned):
    """Every row, in the order of the space."""

    def choose(self, tried: Tried, entropy: np.random.SeedSequence) -> int:
        """The first open row."""
        return int(np.argmin(tried.closed))
