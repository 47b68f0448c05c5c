"""Budget allocation: the next trials go to the shape with the largest reduction of the total time per second spent.

A shape's trials are grouped into windows. The gain of a window is the logarithm of the speedup of the best in
it. The expected gain of a shape's next window follows from its own windows, late ones weighing more, and from
the gains of the other shapes in the same window. Times the weight and the best time, it is the expected
reduction of the total.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

WINDOW = 8
"""Trials of a window."""
LEAST_GAIN = math.log(1.005)
"""Least gain that counts, half a percent: repeated measurements vary by as much."""
DRY_WINDOWS = 3
"""Number of consecutive windows without a gain after which a shape gets no more trials."""
_FADING = 0.5  # weight of an own window relative to the next one
_OTHERS_COUNT_AS = 2.0  # in own windows
_FIRST_GUESS = 0.05  # while no shape has had a second window
_GROWTH = 4  # a portion is one window, plus one for every so many earlier windows


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a shape. `times_us` has each trial's time in order, None without one; `wall_s` is their wall time.

    `closed`: it gets no more trials, because its space is exhausted or its job is over.
    """

    weight: float
    times_us: tuple[float | None, ...] = ()
    wall_s: float = 0.0
    closed: bool = False

    @property
    def best_us(self) -> float | None:
        """The least time."""
        return min((time for time in self.times_us if time is not None), default=None)

    @property
    def gains(self) -> tuple[float, ...]:
        """Gains of the complete windows after the first trial, the default."""
        best, gains = self._first_us(), list[float]()
        for start in range(1, len(self.times_us) - WINDOW + 1, WINDOW):
            times = [time for time in self.times_us[start : start + WINDOW] if time is not None]
            least = min([best, *times])
            gains.append(math.log(best / least) if math.isfinite(best) else 0.0)
            best = least
        return tuple(gains)

    @property
    def is_dry(self) -> bool:
        """True if its last windows gained nothing."""
        last = self.gains[-DRY_WINDOWS:]
        return len(last) == DRY_WINDOWS and max(last) < LEAST_GAIN

    def _first_us(self) -> float:
        first = self.times_us[0] if self.times_us else None
        return math.inf if first is None else first


@dataclass(frozen=True, slots=True)
class Grant:
    """A grant of `trials` to the shape at `index`; the expected gain is None before its first window is complete.

    `alike` is the number of shapes that wait for the same of the first two grants, itself included: they share the
    time.
    """

    index: int
    trials: int
    gain: float | None = None
    alike: int = 1


def next_grant(shapes: Sequence[Progress], trials_left: int) -> Grant | None:
    """Return the next grant; None when no trials are left, or no shape is expected to gain.

    First, in order of the set, each shape gets its default, so that all have a time should the seconds be short; then
    each as much of a first window as leaves as many trials to distribute later. Then come shapes that have no time yet,
    then the one with the largest weighted reduction of the total per second.
    """
    if trials_left < 1:
        return None
    open_ = [index for index, shape in enumerate(shapes) if not shape.closed]
    if untried := [index for index in open_ if not shapes[index].times_us]:
        return Grant(untried[0], 1, alike=len(untried))
    if begun := [index for index in open_ if len(shapes[index].times_us) == 1]:
        trials = min(WINDOW, max(1, trials_left // (2 * len(begun))))
        return Grant(begun[0], trials, alike=len(begun))
    open_ = [index for index in open_ if not shapes[index].is_dry]
    for index in open_:
        if shapes[index].best_us is None:
            return Grant(index, min(_portion(shapes[index]), trials_left))
    if not open_:
        return None
    best = max(open_, key=lambda index: _worth(shapes, index))
    return Grant(best, min(_portion(shapes[best]), trials_left), expected_gain(shapes, best))


def expected_gain(shapes: Sequence[Progress], index: int) -> float:
    """Return the expected gain of a shape's next window, as a logarithm."""
    own, place = shapes[index].gains, len(shapes[index].gains)
    others = [shape.gains for other, shape in enumerate(shapes) if other != index]
    alike = [gains[place] for gains in others if len(gains) > place]
    last = [gains[-1] * _FADING for gains in (*others, own) if gains]
    prior = fmean(alike) if alike else fmean(last) if last else _FIRST_GUESS
    ages = range(len(own) - 1, -1, -1)
    counts = [_FADING**age for age in ages]
    total = sum(counts) + _OTHERS_COUNT_AS
    return (sum(gain * count for gain, count in zip(own, counts, strict=True)) + _OTHERS_COUNT_AS * prior) / total


def _worth(shapes: Sequence[Progress], index: int) -> float:
    """Return the reduction of the weighted total in microseconds per second of trials."""
    shape = shapes[index]
    assert shape.best_us is not None
    saved_us = shape.weight * shape.best_us * -math.expm1(-expected_gain(shapes, index))
    return saved_us / (WINDOW * _trial_s(shape))


def _trial_s(shape: Progress) -> float:
    return max(shape.wall_s / max(len(shape.times_us), 1), 1e-3)


def _portion(shape: Progress) -> int:
    """Return the trials up to the end of the window, plus further windows after many."""
    begun = len(shape.times_us) - 1
    return WINDOW * (1 + begun // WINDOW // _GROWTH) - begun % WINDOW
