"""Charts as plain values: columns with units, rows in series, and the columns of the axes.

A series has one evidence, so that no line joins measured and predicted times.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from service.dashboard.evidence import TimeEvidence

Value = str | int | float | None
Row = tuple[Value, ...]
TRIAL, TIME = "trial", "time"
"""Fields of trials that are no parameters: the number, and the time in us."""


class Kind(StrEnum):
    """Layout of a chart: two axes, a grid of cells, or an axis for each column."""

    XY = "xy"
    HEAT = "heat"
    PARALLEL = "parallel"


class Mark(StrEnum):
    """Mark of rows. A `limit` is a line without measurements; `spans` go from low to high."""

    DOTS = "dots"
    LINE = "line"
    STEPS = "steps"
    SPANS = "spans"
    LIMIT = "limit"
    BARS = "bars"
    CELLS = "cells"
    PATHS = "paths"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a chart's rows. `unit` is µs, TFLOP/s, B, s, MHz, x and so on; empty for plain numbers and
    words.
    """

    name: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """A column on an axis: linear, log, or category with the values in order. `from_zero` includes zero.

    `low` and `high` are included if set: related charts have the same range. `field` is what a selection along the
    axis restricts: `trial`, `time`, or a parameter; empty if it selects nothing.
    """

    column: int
    name: str
    unit: str = ""
    scale: str = "linear"
    categories: tuple[Value, ...] = ()
    from_zero: bool = False
    whole: bool = False
    low: float | None = None
    high: float | None = None
    field: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """Rows drawn alike. `palette` selects a colour where evidence does not; `links` are the targets of rows.

    `role`: "best" is drawn larger, "failed" as crosses. A series that is `part_of` another has no legend
    entry. `low` and `high` are the columns of spans.
    """

    name: str
    mark: Mark
    rows: Sequence[Row]
    evidence: TimeEvidence | None = None
    role: str | None = None
    palette: int | None = None
    links: Sequence[str | None] | None = None
    part_of: str | None = None
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart. `note` describes it, and its sample of rows; `empty` is shown without rows.

    `of` is what it belongs to, such as a problem and a device, for saved files and pictures.

    `x` and `y` are for two axes and cells, `axes` for one axis a column, `color` is the column that colours
    cells and paths.
    """

    title: str
    note: str
    columns: tuple[Column, ...]
    series: tuple[Series, ...]
    kind: Kind = Kind.XY
    x: ChartAxis | None = None
    y: ChartAxis | None = None
    color: ChartAxis | None = None
    axes: tuple[ChartAxis, ...] = field(default=())
    empty: str = "Nothing to draw yet."
    of: str = ""
