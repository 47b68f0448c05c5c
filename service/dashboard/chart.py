"""The history of a job as a drawing: where each dot, step and mark goes, thinned out on the server."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from service.dashboard.evidence import TimeEvidence, TimeFigure
from service.dashboard.units import round_duration

MAX_DOTS = 900
MARK_COLUMNS = 160
LANES = ("rejected", "compile_failed", "wrong_result", "timed_out", "crashed")


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """One ended trial: its number, its status, and its time when it has one.

    `time` is what was measured of its configuration, by job `measured_by` if not by its own, else what was predicted.
    `judged` is the prediction that the measurement judges, `ratio` measured over predicted time.
    """

    number: int
    status: str
    time: TimeFigure | None
    judged: TimeFigure | None = None
    ratio: float | None = None
    measured_by: str | None = None


@dataclass(frozen=True, slots=True)
class Dot:
    """A trial with a time, placed in percent of the plot from the left and from the top."""

    x: float
    y: float
    point: HistoryPoint
    time: TimeFigure
    improves: bool


@dataclass(frozen=True, slots=True)
class Step:
    """One straight piece of a best-so-far line, in percent."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class BestLine:
    """Best time so far among trials with the same evidence."""

    evidence: TimeEvidence
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """Failed trials of one kind that fall on the same spot."""

    x: float
    first: int
    last: int
    count: int


@dataclass(frozen=True, slots=True)
class Lane:
    """The failed trials of one kind."""

    status: str
    marks: tuple[Mark, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled place on an axis, in percent."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """All there is to draw. `thinned` is how many dots were left out because others are beside them."""

    dots: tuple[Dot, ...]
    lines: tuple[BestLine, ...]
    lanes: tuple[Lane, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    thinned: int


def history_chart(points: Sequence[HistoryPoint]) -> Chart:
    """Lay out a job's ended trials, given in order of number; time goes on a logarithmic axis."""
    last = max((p.number for p in points), default=0)
    timed = [(p, p.time) for p in points if p.time is not None]
    low, high = _time_range([t.time_us for _, t in timed])
    best: dict[TimeEvidence, float] = {}
    dots: list[Dot] = []
    for point, time in timed:
        improves = time.time_us < best.get(time.evidence, math.inf)
        if improves:
            best[time.evidence] = time.time_us
        dots.append(Dot(_x(point.number, last), _y(time.time_us, low, high), point, time, improves))
    shown = _thin(dots)
    return Chart(
        dots=tuple(shown),
        lines=tuple(_best_line(dots, evidence) for evidence in TimeEvidence if evidence in best),
        lanes=tuple(_lane(status, points, last) for status in LANES if any(p.status == status for p in points)),
        x_ticks=tuple(Tick(_x(n, last), f"{n:,}") for n in _whole_ticks(last)),
        y_ticks=tuple(Tick(_y(t, low, high), round_duration(t)) for t in _time_ticks(low, high)) if timed else (),
        thinned=len(dots) - len(shown),
    )


def _x(number: int, last: int) -> float:
    return round(100 * number / max(last, 1), 2)


def _y(time_us: float, low: float, high: float) -> float:
    return round(100 * math.log(high / time_us) / math.log(high / low), 2)


def _time_range(times: Sequence[float]) -> tuple[float, float]:
    low, high = min(times, default=1.0), max(times, default=10.0)
    room = max((high / low) ** 0.06, 1.05)
    return low / room, high * room


def _thin(dots: list[Dot]) -> list[Dot]:
    """Keep every improvement and one dot for each cell of a grid, coarser until the rest fits."""
    if len(dots) <= MAX_DOTS:
        return dots
    # Scattered order: the first of a cell would always be its left edge, which shows as stripes.
    scattered = sorted(dots, key=lambda d: d.point.number * 2654435761 % 2**32)
    columns, rows = 1.6, 0.6  # cells per percent
    while True:
        cells: dict[tuple[int, int, TimeEvidence], Dot] = {}
        for dot in scattered:
            cells.setdefault((int(dot.x * columns), int(dot.y * rows), dot.time.evidence), dot)
        if len(cells) <= MAX_DOTS:
            break
        columns, rows = columns * 0.85, rows * 0.85
    kept = {dot.point.number for dot in cells.values()}
    return [dot for dot in dots if dot.improves or dot.point.number in kept]


def _best_line(dots: list[Dot], evidence: TimeEvidence) -> BestLine:
    own = [d for d in dots if d.time.evidence is evidence]
    corners = [d for d in own if d.improves]
    steps: list[Step] = []
    for here, after in pairwise(corners):
        steps += (Step(here.x, here.y, after.x, here.y), Step(after.x, here.y, after.x, after.y))
    steps.append(Step(corners[-1].x, corners[-1].y, 100.0, corners[-1].y))
    return BestLine(evidence, tuple(steps))


def _lane(status: str, points: Sequence[HistoryPoint], last: int) -> Lane:
    columns: dict[int, list[int]] = {}
    for point in points:
        if point.status == status:
            columns.setdefault(int(_x(point.number, last) * MARK_COLUMNS / 100), []).append(point.number)
    marks = tuple(Mark(_x(numbers[0], last), numbers[0], numbers[-1], len(numbers)) for numbers in columns.values())
    return Lane(status, marks, sum(m.count for m in marks))


def _whole_ticks(last: int) -> list[int]:
    step = max(1, math.ceil(_nice(last / 5)))
    return list(range(0, last + 1, step))


def _time_ticks(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    choices = (1.0,) if high / low > 1e4 else (1.0, 2.0, 5.0)
    ticks = [c * 10.0**d for d in decades for c in choices if low <= c * 10.0**d <= high]
    if len(ticks) >= 3:
        return ticks
    step = _nice((high - low) / 6)
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _nice(value: float) -> float:
    """The next of 1, 2, 5, 10, 20, ... at or above a positive value."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(c * power for c in (1, 2, 5, 10) if c * power >= value * 0.999)
