"""Rows of a space that a search has tried."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tuner.space.space import Space

_SOME = 30  # random rows of which the most opposite is returned


class Tried:
    """Rows that were begun, in order, and the times of those that ended.

    `closed` rows are not proposed: they were begun, or are `dropped` from the start.
    """

    def __init__(self, space: Space[Any], seed: int, dropped: NDArray[np.bool_] | None = None) -> None:
        self.space, self.seed = space, seed
        self.closed = dropped.copy() if dropped is not None else np.zeros(len(space), dtype=np.bool_)
        self.rows: list[int] = []
        self.log_us: dict[int, float] = {}
        self.best: int | None = None
        self._begun: set[int] = set()

    def __len__(self) -> int:
        return len(self.rows)

    def has(self, row: int) -> bool:
        """Return whether a row was begun."""
        return row in self._begun

    @property
    def entropy(self) -> np.random.SeedSequence:
        """Seed sequence for the next row, which depends on the seed and on the number of rows begun."""
        return np.random.SeedSequence([self.seed, len(self.rows)])

    def open(self) -> NDArray[np.int64]:
        """Return the rows that may be proposed."""
        return np.flatnonzero(~self.closed)

    def random_open(self) -> int:
        """Return an open row, uniformly at random."""
        return int(np.random.default_rng(self.entropy).choice(self.open()))

    def opposite_open(self, row: int) -> int:
        """Return the one of some random open rows that differs from a row on the most axes of two values."""
        rows, points = self.open(), self.space.points
        some = np.random.default_rng(self.entropy).choice(rows, min(_SOME, len(rows)), replace=False)
        of_two = [place for place, axis in enumerate(self.space.axes) if len(axis.values) == 2]
        differing = points[some][:, of_two] != points[row, of_two]
        return int(some[differing.sum(axis=1).argmax()])

    def begin(self, row: int) -> None:
        """Record that a row is being tried."""
        self.rows.append(row)
        self._begun.add(row)
        self.closed[row] = True

    def end(self, row: int, log_us: float) -> None:
        """Record the logarithm of a row's time; infinite if it has none."""
        self.log_us[row] = log_us
        if not math.isinf(log_us) and (self.best is None or log_us < self.log_us[self.best]):
            self.best = row
