"""What one search knows of the rows of its space."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tuner.space.space import Space


class Tried:
    """The rows that were begun, in order, and the times of those that ended.

    `closed` rows are not to be proposed: they were begun, or are `dropped` from the start.
    """

    def __init__(self, space: Space[Any], dropped: NDArray[np.bool_] | None = None) -> None:
        self.space = space
        self.closed = dropped.copy() if dropped is not None else np.zeros(len(space), dtype=np.bool_)
        self.rows: list[int] = []
        self.log_us: dict[int, float] = {}
        self.best: int | None = None
        self._begun: set[int] = set()

    def __len__(self) -> int:
        return len(self.rows)

    def has(self, row: int) -> bool:
        """Whether a row was begun."""
        return row in self._begun

    @property
    def pending(self) -> int:
        """How many rows were begun and have not ended."""
        return len(self.rows) - len(self.log_us)

    def open(self) -> NDArray[np.int64]:
        """The rows that may be proposed."""
        return np.flatnonzero(~self.closed)

    def begin(self, row: int) -> None:
        """Take a row as being tried."""
        self.rows.append(row)
        self._begun.add(row)
        self.closed[row] = True

    def end(self, row: int, log_us: float) -> None:
        """Take the logarithm of a row's time; infinite when it gave none."""
        self.log_us[row] = log_us
        if not math.isinf(log_us) and (self.best is None or log_us < self.log_us[self.best]):
            self.best = row
