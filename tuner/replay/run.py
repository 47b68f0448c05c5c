"""Replay of a search in a recorded space: the best after each evaluation, compared with random search.

Source of the score: Willemsen et al. (2024), A methodology for comparing optimization algorithms for auto-tuning.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tuner.replay.recorded import Point, RecordedSpace
from tuner.search.samplers.search import Search
from tuner.space.space import Space

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """One search: the rows it tried in order, and the proposer of each."""

    rows: NDArray[np.int64]
    by: tuple[str, ...]


def replay(recorded: RecordedSpace, space: Space[Point], search: Search[Point], evaluations: int) -> Replay:
    """Ask the search and tell it recorded times, that often or until all were tried. `space` is the recorded one's."""
    rows: list[int] = []
    by: list[str] = []
    while len(rows) < evaluations and (proposal := search.ask()) is not None:
        row = space.index(proposal.config)
        assert row is not None  # proposals come from the space
        search.tell(proposal.config, recorded.time_us(row))
        rows.append(row)
        by.append(proposal.by)
    return Replay(np.array(rows, dtype=np.int64), tuple(by))


def best_so_far(recorded: RecordedSpace, rows: NDArray[np.int64], evaluations: int) -> Floats:
    """Return the least time after each evaluation, [evaluations]; the slowest time before any, the last after
    rows end.
    """
    times = recorded.times_us[rows[:evaluations]]
    slowest = float(np.nanmax(recorded.times_us))
    best = np.minimum.accumulate(np.where(np.isnan(times), slowest, times))
    return np.pad(best, (0, evaluations - len(best)), mode="edge") if len(best) else np.full(evaluations, slowest)


@dataclass(frozen=True, slots=True, eq=False)
class Chance:
    """Expected result of random sampling without replacement: least times, fractions of the optimum; [evaluations]."""

    best_us: Floats
    fraction: Floats


def chance(recorded: RecordedSpace, evaluations: int) -> Chance:
    """Return the expected least time of n random configurations, for each n; one without a time counts as the
    slowest.
    """
    slowest = float(np.nanmax(recorded.times_us))
    ascending = np.sort(np.nan_to_num(recorded.times_us, nan=slowest))
    count = len(ascending)
    # All of n draws are worse than the i best with probability C(count - i, n) / C(count, n).
    beyond = np.ones(count + 1)
    best, fraction = np.empty(evaluations), np.empty(evaluations)
    left = count - np.arange(count + 1)
    for drawn in range(evaluations):
        if drawn < count:
            beyond = beyond * np.maximum(left - drawn, 0) / (count - drawn)
        probability = beyond[:-1] - beyond[1:]
        best[drawn] = probability @ ascending
        fraction[drawn] = probability @ (ascending[0] / ascending)
    return Chance(best, fraction)


_OPEN = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """Mean result of several searches: fractions of the optimum by evaluations, and the P score.

    `p_score` is the mean of (base - found) / (base - optimum), with the calculated random draws as base: 0 is
    chance, 1 is the optimum at once. Evaluations after which chance is within 1 % of the optimum are
    excluded. `by` counts proposals by proposer.
    """

    fraction: Floats
    p_score: float
    by: Counter[str]

    def at(self, evaluations: int) -> float:
        """Return the mean fraction of the optimum after that many evaluations."""
        return float(self.fraction[evaluations - 1])


def score(recorded: RecordedSpace, replays: Sequence[Replay], evaluations: int) -> Score:
    """Evaluate searches of a recorded space."""
    base = chance(recorded, evaluations).best_us
    found = np.stack([best_so_far(recorded, one.rows, evaluations) for one in replays])
    gap = base - recorded.best_us
    open_ = gap > _OPEN * recorded.best_us  # closer to the optimum, rounding dominates the ratio
    ratio = (base - found.mean(axis=0))[open_] / gap[open_]
    by: Counter[Any] = Counter(name for one in replays for name in one.by)
    return Score((recorded.best_us / found).mean(axis=0), float(ratio.mean()) if len(ratio) else math.nan, by)
