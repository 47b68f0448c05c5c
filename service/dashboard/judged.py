"""Predicted against measured times of a job as a drawing on two logarithmic axes, with the table behind it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from service.dashboard.chart import HistoryPoint, Tick
from service.dashboard.evidence import TimeFigure
from service.dashboard.units import round_duration

MAX_PAIRS = 300
_MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class Pair:
    """A trial that was predicted and measured, in percent of the plot from the left (predicted) and the top."""

    x: float
    y: float
    number: int
    predicted: TimeFigure
    measured: TimeFigure
    ratio: float
    measured_by: str | None

    @property
    def inside(self) -> bool:
        """Whether the interval that was predicted held the measured time."""
        return self.predicted.low_us <= self.measured.time_us <= self.predicted.high_us


@dataclass(frozen=True, slots=True)
class JudgedChart:
    """The pairs, fastest measured first; both axes have the same ticks, so that equal times are on the diagonal.

    `off_by` is the median factor between predicted and measured; `left_out` pairs are slower than those here.
    """

    pairs: tuple[Pair, ...]
    ticks: tuple[Tick, ...]
    off_by: float
    inside: int
    count: int
    left_out: int


def judged_chart(points: Sequence[HistoryPoint]) -> JudgedChart | None:
    """Lay out the trials that were both predicted and measured; None without any."""
    both = [(p, p.judged, p.time, p.ratio) for p in points]
    known = [(p, j, t, r) for p, j, t, r in both if j is not None and t is not None and r is not None]
    known.sort(key=lambda of: (of[2].time_us, of[0].number))
    if not known:
        return None
    shown = known[:MAX_PAIRS]
    times = [figure.time_us for _, j, t, _ in shown for figure in (j, t)]
    low, high = min(times) / 1.3, max(times) * 1.3
    pairs = tuple(
        Pair(_at(j.time_us, low, high), 100 - _at(t.time_us, low, high), p.number, j, t, r, p.measured_by)
        for p, j, t, r in shown
    )
    return JudgedChart(
        pairs=pairs,
        ticks=tuple(Tick(_at(time_us, low, high), round_duration(time_us)) for time_us in _ticks(low, high)),
        off_by=median(max(r, 1 / r) for *_, r in known),
        inside=sum(j.low_us <= t.time_us <= j.high_us for _, j, t, _ in known),
        count=len(known),
        left_out=len(known) - len(shown),
    )


def _at(time_us: float, low: float, high: float) -> float:
    return round(100 * math.log(time_us / low) / math.log(high / low), 2)


def _ticks(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for choices in ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        ticks = [c * 10.0**d for d in decades for c in choices if low <= c * 10.0**d <= high]
        if len(ticks) <= _MOST_TICKS:
            return ticks
    return ticks[:: math.ceil(len(ticks) / _MOST_TICKS)]
