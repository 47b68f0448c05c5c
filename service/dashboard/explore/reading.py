"""Trials of a problem on a device over two values of the reader's choice, in one chart or in one for each part."""

from collections.abc import Sequence
from dataclasses import dataclass

from service.dashboard.charts.document import Axis, Chart, Column, Mark, Series
from service.dashboard.evidence import TimeEvidence
from service.dashboard.naming import config_label
from service.dashboard.problems.charts import parameters
from service.dashboard.problems.samples import Pair, Sample, Value

MOST_DOTS = 600
MOST_PARTS = 6

_UNITS = {"time": "µs", "rate": "TFLOP/s", "trial": ""}
_NAMES = {
    TimeEvidence.MEASURED: "measured",
    TimeEvidence.EMULATED: "measured, DPAS emulated",
    TimeEvidence.PREDICTED: "predicted",
}


@dataclass(frozen=True, slots=True)
class View:
    """What a reader chose, as far as it exists: the two axes, and the parameter that each part has one value of."""

    x: str
    y: str
    parts: str


def axes(pair: Pair) -> list[str]:
    """What may be on an axis."""
    return [*_UNITS, *parameters(pair)]


def chosen(pair: Pair, x: str, y: str, parts: str) -> View:
    """The choice, with what does not exist replaced by what does."""
    names = axes(pair)
    return View(x if x in names else names[-1], y if y in names else "time", parts if parts in parameters(pair) else "")


def parts_of(pair: Pair, view: View) -> list[Value]:
    """The values that have a chart each, those of most trials first, at most six."""
    counts: dict[Value, int] = {}
    for sample in pair.samples:
        if view.parts in sample.fields:
            value = sample.fields[view.parts]
            counts[value] = counts.get(value, 0) + 1
    return sorted(counts, key=lambda value: -counts[value])[:MOST_PARTS]


def explore_chart(pair: Pair, view: View, part: str) -> Chart:
    """Dots of one evidence each, at most 600, evenly from the fastest to the slowest; `part` is a value or empty."""
    series: list[Series] = []
    number = 0
    for evidence in TimeEvidence:
        own = [s for s in pair.of(evidence) if not view.parts or str(s.fields.get(view.parts)) == part]
        own = [s for s in own if _value(pair, s, view.x) is not None and _value(pair, s, view.y) is not None]
        number += len(own)
        if kept := _spread(own):
            rows = [
                (_value(pair, s, view.x), _value(pair, s, view.y), s.number, s.time_us, config_label(s.config))
                for s in kept
            ]
            series.append(Series(_NAMES[evidence], Mark.DOTS, rows, evidence, links=[s.href for s in kept]))
    shown = sum(len(s.rows) for s in series)
    of = f", where {view.parts} is {part}" if view.parts else ""
    return Chart(
        title=f"{view.y} over {view.x}{of}",
        note=f"{shown:,} of {number:,} trials. {pair.note}.",
        columns=(
            Column(view.x, _UNITS.get(view.x, "")),
            Column(view.y, _UNITS.get(view.y, "")),
            Column("Trial"),
            Column("Time", "µs"),
            Column("Configuration"),
        ),
        series=tuple(series),
        x=_axis(pair, 0, view.x),
        y=_axis(pair, 1, view.y),
        empty="No trial has both values.",
    )


def _axis(pair: Pair, column: int, name: str) -> Axis:
    unit = _UNITS.get(name, "")
    if name in ("time", "rate"):
        return Axis(column, name, unit, "log")
    values = {sample.fields[name] for sample in pair.samples if name in sample.fields}
    if any(isinstance(value, str) for value in values):
        return Axis(column, name, unit, "category", tuple(sorted(map(str, values))))
    return Axis(column, name, unit, whole=True)


def _value(pair: Pair, sample: Sample, name: str) -> Value | float | None:
    match name:
        case "time":
            return sample.time_us
        case "rate":
            return pair.flops / sample.time_us / 1e6
        case "trial":
            return sample.number
        case _:
            return sample.fields.get(name)


def _spread(own: Sequence[Sample]) -> list[Sample]:
    return [own[i * len(own) // MOST_DOTS] for i in range(MOST_DOTS)] if len(own) > MOST_DOTS else list(own)
