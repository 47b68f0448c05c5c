"""Charts of invented numbers, one of each kind."""

import math
import random

from service.dashboard.charts.document import Chart, ChartAxis, Column, Kind, Mark, Row, Series
from service.dashboard.evidence import TimeEvidence

_NOTE = "Invented numbers."


def _history() -> Chart:
    draw = random.Random(1)
    series: list[Series] = []
    for evidence, scale in ((TimeEvidence.MEASURED, 1.0), (TimeEvidence.PREDICTED, 0.6)):
        rows: list[Row] = []
        steps: list[Row] = []
        best = math.inf
        for n in range(120):
            time_us = scale * (400 + 1600 / (1 + 0.1 * n)) * draw.lognormvariate(0.2, 0.3)
            rows.append((n, time_us, time_us * 0.94, time_us * 1.1))
            if time_us < best:
                best = time_us
                steps.append(rows[-1])
        name = f"best so far, {evidence}"
        series += (
            Series(f"trials, {evidence}", Mark.DOTS, rows, evidence),
            Series(name, Mark.STEPS, [*steps, (119, best, None, None)], evidence),
            Series("spread", Mark.SPANS, steps, evidence, part_of=name, low=2, high=3),
        )
    columns = (Column("Trial"), Column("Time", "µs"), Column("Low", "µs"), Column("High", "µs"))
    x, y = ChartAxis(0, "Trial", whole=True), ChartAxis(1, "Time", "µs", "log")
    return Chart("Two evidences, never in one line", _NOTE, columns, tuple(series), x=x, y=y)


def _bars() -> Chart:
    rows: list[Row] = [(name, value) for name, value in (("f16", 91.0), ("bf16", 88.5), ("s8", 171.2))]
    lower: list[Row] = [(name, value * 1.1) for name, value in (("f16", 91.0), ("bf16", 88.5), ("s8", 171.2))]
    series = (
        Series("measured", Mark.BARS, rows, TimeEvidence.MEASURED),
        Series("predicted", Mark.BARS, lower, TimeEvidence.PREDICTED),
    )
    x = ChartAxis(0, "Type", scale="category", categories=("f16", "bf16", "s8"))
    y = ChartAxis(1, "Rate", "TFLOP/s", from_zero=True)
    return Chart("Bars", _NOTE, (Column("Type"), Column("Rate", "TFLOP/s")), series, x=x, y=y)


def _heat() -> Chart:
    sizes = (32, 64, 128, 256)
    rows: list[Row] = [(m, n, 300 + abs(math.log2(m * n) - 14) * 180) for m in sizes for n in sizes if m * n > 1500]
    series = (Series("fastest measured", Mark.CELLS, rows, TimeEvidence.MEASURED),)
    x, y = (ChartAxis(i, name, scale="category", categories=sizes) for i, name in enumerate(("Tile m", "Tile n")))
    columns = (Column("Tile m"), Column("Tile n"), Column("Time", "µs"))
    return Chart("Cells", _NOTE, columns, series, Kind.HEAT, x, y, color=ChartAxis(2, "Time", "µs"))


def _parallel() -> Chart:
    draw = random.Random(2)
    rows: list[Row] = []
    for _ in range(150):
        m, k, levels = draw.choice((64, 128, 256)), draw.choice((16, 32)), draw.choice(("none", "l1", "l2"))
        rows.append((m, k, levels, 300 * draw.lognormvariate(0.3, 0.5) * (2 if levels == "none" else 1)))
    columns = (Column("Tile m"), Column("K step"), Column("Prefetch"), Column("Time", "µs"))
    time = ChartAxis(3, "Time", "µs", "log")
    axes = (
        ChartAxis(0, "Tile m", scale="category", categories=(64, 128, 256)),
        ChartAxis(1, "K step", scale="category", categories=(16, 32)),
        ChartAxis(2, "Prefetch", scale="category", categories=("none", "l1", "l2")),
        time,
    )
    series = (Series("measured", Mark.PATHS, rows, TimeEvidence.MEASURED),)
    return Chart("An axis for each column", _NOTE, columns, series, Kind.PARALLEL, color=time, axes=axes)


def _nothing() -> Chart:
    columns = (Column("Trial"), Column("Time", "µs"))
    x, y = ChartAxis(0, "Trial"), ChartAxis(1, "Time", "µs", "log")
    return Chart("Without rows", "No trial has ended.", columns, (), x=x, y=y, empty="Nothing is measured yet.")


SAMPLES = {"history": _history(), "bars": _bars(), "heat": _heat(), "parallel": _parallel(), "nothing": _nothing()}
