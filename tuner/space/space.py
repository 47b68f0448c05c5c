"""A finite space of legal configurations: points on ordinal axes."""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tuner.space.values import Value

C = TypeVar("C")
KEPT_SPACES = 16
"""Number of spaces of each backend that a process keeps: a job's portions and its successors have the same one."""
Ranks = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """One choice: its name and its values in their natural order."""

    name: str
    values: tuple[Value, ...]


class Space(Generic[C]):
    """Legal configurations, each a row of `points`: its rank on every axis.

    `points` is [configurations, axes]. `read` returns a configuration's value on every axis, `write` the
    configuration of such values.

    Raises:
        ValueError: two rows are the same point, or the axes have more points than 64 bits can number.
    """

    def __init__(
        self,
        axes: tuple[Axis, ...],
        points: NDArray[np.int16],
        read: Callable[[C], tuple[Value, ...]],
        write: Callable[[tuple[Value, ...]], C],
    ) -> None:
        self.axes = axes
        self.points = points
        self.points.setflags(write=False)
        self._read, self._write = read, write
        sizes = [len(axis.values) for axis in axes]
        if math.prod(sizes) >= 2**63:
            raise ValueError(f"points are numbered with 64 bits; axes of {sizes} values have too many")
        self._radix = np.cumprod([1, *sizes[:-1]], dtype=np.int64)
        codes = points.astype(np.int64) @ self._radix
        self._order = np.argsort(codes)
        self._codes = codes[self._order]
        if len(codes) != len(np.unique(codes)):
            raise ValueError("a space holds every configuration once, got some twice")

    def __len__(self) -> int:
        return len(self.points)

    @property
    def version(self) -> str:
        """Hash of the axes and the points: a search resumes only in the same space."""
        digest = hashlib.sha256(repr(self.axes).encode())
        digest.update(self._codes.tobytes())
        return digest.hexdigest()

    def config(self, index: int) -> C:
        """Return the configuration of a row."""
        return self._write(tuple(axis.values[rank] for axis, rank in zip(self.axes, self.ranks(index), strict=True)))

    def ranks(self, index: int) -> Ranks:
        """Return the rank of a row on every axis."""
        return tuple(int(rank) for rank in self.points[index])

    def index(self, config: C) -> int | None:
        """Return the row of a configuration; None when the space does not hold it."""
        ranks: list[int] = []
        for axis, value in zip(self.axes, self._read(config), strict=True):
            if value not in axis.values:
                return None
            ranks.append(axis.values.index(value))
        found = self.find(tuple(ranks))
        # Two configurations may differ in fields that have no axis.
        return found if found is not None and self.config(found) == config else None

    def near(self, config: C) -> Ranks | None:
        """Return the nearest point of a configuration, which need not be legal here; unknown numbers move to
        the nearest value.

        Return None when an axis lacks one of its words.
        """
        ranks: list[int] = []
        for axis, value in zip(self.axes, self._read(config), strict=True):
            numbers = _numbers(axis)
            if value in axis.values:
                ranks.append(axis.values.index(value))
            elif isinstance(value, str) or not numbers:
                return None
            else:
                ranks.append(_nearest(numbers, value))
        return tuple(ranks)

    def find(self, ranks: Ranks) -> int | None:
        """Return the row of a point; None when it is not legal."""
        code = int(np.array(ranks, dtype=np.int64) @ self._radix)
        place = int(np.searchsorted(self._codes, code))
        if place == len(self._codes) or self._codes[place] != code:
            return None
        return int(self._order[place])

    def distances(self, ranks: Ranks) -> NDArray[np.int64]:
        """Return the number of steps along the axes from a point to every row."""
        return np.abs(self.points - np.array(ranks, dtype=np.int16)).sum(axis=1, dtype=np.int64)


def _numbers(axis: Axis) -> dict[int, float]:
    """Return the ranks of an axis whose values are numbers, with these numbers."""
    return {rank: value for rank, value in enumerate(axis.values) if not isinstance(value, str)}


def _nearest(numbers: dict[int, float], value: float) -> int:
    return min(numbers, key=lambda rank: abs(numbers[rank] - value))
