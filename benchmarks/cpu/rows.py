"""Tables of the CPU benchmark: times of each case, and ratios of them."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.cpu.cases import Case
from benchmarks.cpu.timing import (
    Measured,
    Times,
)

OURS, DEFAULT, TORCH, NUMPY = "ours", "default", "torch", "numpy"
_LEAST = 0.8
_RATIOS = ("torch / ours", "by CPU time", "hot", "torch / default", "numpy / ours")


@dataclass(frozen=True, slots=True)
class Row:
    """A case at a number of threads: times with rotated and with hot buffers, and the peak."""

    case: Case
    threads: int
    rotated: Measured
    hot: Measured | None
    peak_gops: float
    config: str
    default: str

    def ratio(self, other: str, ours: str = OURS, *, hot: bool = False, cpu: bool = False) -> float | None:
        """Return another's median time, or CPU time, over ours; None if one was not measured."""
        measured = self.hot if hot else self.rotated
        if measured is None or other not in measured.times or ours not in measured.times:
            return None
        if cpu:
            return measured.times[other].median_cpu_us / measured.times[ours].median_cpu_us
        return measured.times[other].median_us / measured.times[ours].median_us

    @property
    def share_of_peak(self) -> float:
        """Throughput of ours over the peak of the cores."""
        return self.case.operations / self.rotated.times[OURS].median_us * 1e-3 / self.peak_gops


def table(rows: Sequence[Row]) -> list[str]:
    """Return a row for each case, in Markdown."""
    head = (
        "| problem | threads | ours us (p10-p90) | torch us (p10-p90) | torch / ours | by CPU time | hot "
        "| torch / default | numpy / ours | of peak | again |"
    )
    lines = [head, "|---|" + "---:|" * 10]
    for row in rows:
        times = row.rotated.times
        cells = [
            row.case.name,
            str(row.threads),
            _spread(times[OURS]),
            _spread(times.get(TORCH)),
            _number(row.ratio(TORCH)),
            _number(row.ratio(TORCH, cpu=True) if row.threads == 1 else None),
            _number(row.ratio(TORCH, hot=True)),
            _number(row.ratio(TORCH, DEFAULT)),
            _number(row.ratio(NUMPY)),
            f"{row.share_of_peak:.0%}",
            str(row.rotated.again),
        ]
        lines.append(_line(cells))
    return lines


def summary(rows: Sequence[Row]) -> list[str]:
    """Return a row for each type and number of threads: geometric means, the worst case, and the share below 0.8."""
    columns = ["type", "threads", "cases", *_RATIOS, "worst", "below 0.8"]
    found: list[list[str]] = []
    for dtype, threads in dict.fromkeys((row.case.dtype, row.threads) for row in rows):
        some = [row for row in rows if (row.case.dtype, row.threads) == (dtype, threads)]
        ratios = {row.case.name: ratio for row in some if (ratio := row.ratio(TORCH)) is not None}
        worst = min(ratios, key=ratios.__getitem__, default=None)
        below = sum(ratio < _LEAST for ratio in ratios.values())
        cells = [
            dtype.value,
            str(threads),
            str(len(some)),
            _mean([row.ratio(TORCH) for row in some]),
            _mean([row.ratio(TORCH, cpu=True) for row in some]) if threads == 1 else "",
            _mean([row.ratio(TORCH, hot=True) for row in some]),
            _mean([row.ratio(TORCH, DEFAULT) for row in some]),
            _mean([row.ratio(NUMPY) for row in some]),
            f"{worst}: {ratios[worst]:.2f}" if worst is not None else "",
            f"{below / len(ratios):.0%}" if ratios else "",
        ]
        found.append(cells)
    filled = [place for place in range(len(columns)) if any(cells[place] for cells in found)]
    rules = ["---" if columns[place] in ("type", "worst") else "---:" for place in filled]
    lines = [_line([columns[place] for place in filled]), f"|{'|'.join(rules)}|"]
    lines += [_line([cells[place] for place in filled]) for cells in found]
    again = sum(row.rotated.again + (row.hot.again if row.hot is not None else 0) for row in rows)
    return [*lines, "", f"Cells re-measured because of a wide spread: {again}."]


def scaling_table(rows: Sequence[Row]) -> list[str]:
    """Return torch / ours of each case by number of threads, and the geometric mean of each type."""
    counts = sorted({row.threads for row in rows})
    head = ["problem", *(f"{count} thread{'s' if count > 1 else ''}" for count in counts)]
    lines = [_line(head), "|---|" + "---:|" * len(counts)]
    for dtype in dict.fromkeys(row.case.dtype for row in rows):
        some = [row for row in rows if row.case.dtype == dtype]
        for case in dict.fromkeys(row.case for row in some):
            by_count = {row.threads: row for row in some if row.case == case}
            lines.append(_line([case.name, *(_number(by_count[n].ratio(TORCH)) for n in counts)]))
        means = (_mean([row.ratio(TORCH) for row in some if row.threads == n]) for n in counts)
        lines.append(_line([f"{dtype.value}, geometric mean", *means]))
    return lines


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _spread(times: Times | None) -> str:
    if times is None:
        return ""
    low, middle, high = times.percentile_us(10), times.median_us, times.percentile_us(90)
    return f"{_three(middle)} ({_three(low)}-{_three(high)})"


def _three(number: float) -> str:
    """Format a number with three digits."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def _number(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def _mean(ratios: Sequence[float | None]) -> str:
    """Return the geometric mean of the known ratios."""
    known = [ratio for ratio in ratios if ratio is not None]
    return f"{math.exp(statistics.fmean(map(math.log, known))):.2f}" if known else ""
