"""A strategy: the neighbours of the best configuration, one step away first."""

import numpy as np

from tuner.search.gp import GaussianProcess
from tuner.search.tried import Tried


class Descent:
    """Of the open rows that differ from the best in the fewest choices, the one that a process expects most of.

    While the process knows too little, the nearest of these, ties drawn at random.
    """

    def __init__(self, process: GaussianProcess) -> None:
        self._process = process

    def choose(self, tried: Tried, entropy: np.random.SeedSequence) -> int:
        """A row near the best one; any while nothing gave a time."""
        rows = tried.open()
        rng = np.random.default_rng(entropy)
        if tried.best is None:
            return int(rng.choice(rows))
        points = tried.space.points
        steps = np.abs(points[rows] - points[tried.best])
        choices = (steps > 0).sum(axis=1)
        near = rows[choices == choices.min()]
        expected = self._process.expected(tried)
        if expected is None:
            fewest = steps[choices == choices.min()].sum(axis=1)
            return int(rng.choice(near[fewest == fewest.min()]))
        means = np.full(len(tried.space), np.inf)
        means[expected.rows] = expected.mean
        return int(near[np.argmin(means[near])])

    def begin(self, row: int, mine: bool) -> None:
        """Nothing: what was tried says all."""

    def end(self, row: int, log_us: float) -> None:
        """Nothing: what was tried says all."""
