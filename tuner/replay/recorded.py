"""A recorded space: configurations that ran on some device, with their times."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tuner.space.space import Axis, Space
from tuner.space.values import Value

Point = tuple[Value, ...]
"""A configuration: its value on every axis."""

_MOST_VALUES = 2**15  # per axis: ranks have 16 bits


@dataclass(frozen=True, slots=True, eq=False)
class RecordedSpace:
    """Configurations as ranks on their axes, with their times; configurations that were not recorded are not legal.

    `points` is [configurations, axes]. `times_us` is [configurations], NaN if a configuration was tried
    without a time: a search may propose it, and loses an evaluation.

    Raises:
        ValueError: the shapes disagree, a time is not positive, a configuration occurs twice, or none has a time.
    """

    name: str
    axes: tuple[Axis, ...]
    points: NDArray[np.int16]
    times_us: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.points.shape != (len(self.times_us), len(self.axes)):
            raise ValueError(
                f"{self.name}: expected points [{len(self.times_us)} times, {len(self.axes)} axes], "
                f"got {list(self.points.shape)}"
            )
        known = self.times_us[~np.isnan(self.times_us)]
        if not len(known):
            raise ValueError(f"{self.name}: none of {len(self.times_us)} configurations has a time; nothing to search")
        if not (np.isfinite(known) & (known > 0)).all():
            raise ValueError(f"{self.name}: times are positive, or NaN where there is none; got {known.min()} us")
        if len(np.unique(self.points, axis=0)) != len(self.points):
            raise ValueError(f"{self.name}: a configuration is recorded twice; keep one of its times")

    def __len__(self) -> int:
        return len(self.times_us)

    @property
    def best_us(self) -> float:
        """The least time."""
        return float(np.nanmin(self.times_us))

    def space(self) -> Space[Point]:
        """Return the space of all recorded configurations, including those without a time."""
        return Space(self.axes, self.points, lambda point: point, lambda values: values)

    def time_us(self, row: int) -> float | None:
        """Return the time of a row; None if it has none."""
        time_us = float(self.times_us[row])
        return None if math.isnan(time_us) else time_us


def recorded_space(
    name: str, axes: Sequence[str], points: Sequence[Point], times_us: Sequence[float | None]
) -> RecordedSpace:
    """Return a recorded space from the values of each configuration: numbers ascend on their axis, words keep
    their order.

    `axes` are names. A missing time is None or NaN.

    Raises:
        ValueError: a configuration lacks one value per axis, the number of times differs, or as `RecordedSpace`.
    """
    if len(points) != len(times_us):
        raise ValueError(f"{name}: expected a time for each of {len(points)} configurations, got {len(times_us)}")
    for point in points:
        if len(point) != len(axes):
            raise ValueError(f"{name}: expected a value of each of {', '.join(axes)}; got {point}")
    if not axes or len(set(axes)) != len(axes):
        raise ValueError(f"{name}: expected parameters, each with a name of its own, got {', '.join(axes) or 'none'}")
    made = tuple(Axis(axis, _in_order([point[i] for point in points])) for i, axis in enumerate(axes))
    if many := next((axis for axis in made if len(axis.values) > _MOST_VALUES), None):
        raise ValueError(f"{name}: expected at most {_MOST_VALUES} values of a parameter, {many.name} has more")
    ranks = [{value: rank for rank, value in enumerate(axis.values)} for axis in made]
    rows = [[of_axis[value] for of_axis, value in zip(ranks, point, strict=True)] for point in points]
    known = [math.nan if time_us is None else time_us for time_us in times_us]
    return RecordedSpace(
        name, made, np.array(rows, dtype=np.int16).reshape(len(points), len(made)), np.array(known, dtype=np.float64)
    )


def _in_order(values: Sequence[Value]) -> tuple[Value, ...]:
    """Return each value once: numbers ascending, then words in their order."""
    once = dict.fromkeys(values)
    numbers = sorted(value for value in once if not isinstance(value, str))
    return (*numbers, *(value for value in once if isinstance(value, str)))
