"""Charts of a view: a series has one evidence, one outcome and one colour."""

from collections.abc import Iterator, Sequence

from service.dashboard.charts.document import Chart, ChartAxis, Column, Mark, Row, Series
from service.dashboard.evidence import TimeEvidence
from service.dashboard.explore.choice import OUTCOME, View
from service.dashboard.explore.reading import Dot, chosen, groups_of, status_of
from service.dashboard.jobs.history import FAILURES
from service.dashboard.naming import config_label
from service.dashboard.problems.charts import ordered
from service.dashboard.problems.fields import Value
from service.dashboard.problems.samples import Pair, Sample

MOST_DOTS = 600
"""Maximum number of dots of a series; the maximum of a chart is three times as many."""
COLOURS = 5
"""Number of colours of the palette."""

_UNITS = {"time": "µs", "rate": "TFLOP/s", "trial": ""}


def explore_chart(pair: Pair, view: View, part: str) -> Chart:
    """Return the dots of a view, sampled evenly if there are too many; `part` is a value or empty."""
    found = chosen(pair, view)
    drawable = [dot for dot in found if _drawable(pair, dot, view)]
    own = [dot for dot in drawable if not view.parts or _is(dot, view.parts, part)]
    split = list(_split(own, found, view))
    most = min(MOST_DOTS, 3 * MOST_DOTS // max(1, len(split)))
    series = [_series(pair, view, name, _spread(dots, most), palette) for name, dots, palette in split]
    shown = sum(len(each.rows) for each in series)
    of = f", where {view.parts} is {part}" if view.parts else ""
    return Chart(
        title=f"{view.y} over {view.x}{of}",
        note=f"Shows {shown:,} of {len(own):,} trials{_left_out(view)}. {pair.note}.",
        columns=(
            Column(view.x, _UNITS.get(view.x, "")),
            Column(view.y, _UNITS.get(view.y, "")),
            Column("Trial"),
            Column("Time", "µs"),
            Column("Configuration"),
            Column("Outcome"),
            *((Column(view.colour),) if view.colour not in ("", OUTCOME) else ()),
        ),
        series=tuple(series),
        # Of all parts, so that their charts can be held beside each other.
        x=_axis(0, view.x, pair, drawable),
        y=_axis(1, view.y, pair, drawable),
        empty="No trial of these has both values.",
    )


def _split(own: Sequence[Dot], of_all: Sequence[Dot], view: View) -> Iterator[tuple[str, list[Dot], int | None]]:
    """The dots that are drawn alike, with their name and colour; groups are those of all parts, to be one in each."""
    if view.colour in ("", OUTCOME):
        yield from ((name, dots, None) for name, dots in _kinds(own))
        return
    for palette, (name, values) in enumerate(groups_of(of_all, view.colour, COLOURS)):
        of = [dot for dot in own if dot.fields.get(view.colour) in values]
        yield from ((f"{view.colour} {name}, {kind}", dots, palette) for kind, dots in _kinds(of))
    rest = [dot for dot in own if view.colour not in dot.fields]
    yield from ((f"without {view.colour}, {kind}", dots, None) for kind, dots in _kinds(rest))


def _kinds(dots: Sequence[Dot]) -> Iterator[tuple[str, list[Dot]]]:
    for evidence in TimeEvidence:
        if timed := [dot for dot in dots if isinstance(dot, Sample) and dot.evidence is evidence]:
            yield evidence.words, list(timed)
    for status in FAILURES:
        if failed := [dot for dot in dots if not isinstance(dot, Sample) and dot.status == status]:
            yield status.replace("_", " "), list(failed)


def _series(pair: Pair, view: View, name: str, dots: Sequence[Dot], palette: int | None) -> Series:
    rows: list[Row] = []
    for dot in dots:
        time_us = dot.time_us if isinstance(dot, Sample) else None
        more = (dot.fields.get(view.colour),) if view.colour not in ("", OUTCOME) else ()
        at = _value(pair, dot, view.x), _value(pair, dot, view.y)
        rows.append((*at, dot.number, time_us, config_label(dot.config), status_of(dot).replace("_", " "), *more))
    first = dots[0]
    links = [dot.href for dot in dots]
    if isinstance(first, Sample):
        return Series(name, Mark.DOTS, rows, first.evidence, palette=palette, links=links)
    by_outcome = FAILURES.index(first.status) if view.colour == OUTCOME else palette
    return Series(name, Mark.DOTS, rows, role="failed", palette=by_outcome, links=links)


def _left_out(view: View) -> str:
    said = [f"{name} is {value}" for name, value in view.where]
    said += [f"time is {TimeEvidence(view.evidence).words}"] if view.evidence else []
    said += [f"outcome is {view.outcome.replace('_', ' ')}"] if view.outcome else []
    return f" whose {', '.join(said)}" if said else ""


def _axis(column: int, name: str, pair: Pair, dots: Sequence[Dot]) -> ChartAxis:
    unit = _UNITS.get(name, "")
    values = {value for dot in dots if (value := _value(pair, dot, name)) is not None}
    numbers = [value for value in values if not isinstance(value, str)]
    if len(numbers) < len(values):
        return ChartAxis(column, name, unit, "category", ordered({dot.fields[name] for dot in dots}))
    low, high = min(numbers, default=None), max(numbers, default=None)
    if name in ("time", "rate"):
        return ChartAxis(column, name, unit, "log", low=low, high=high)
    return ChartAxis(column, name, unit, whole=True, low=low, high=high)


def _drawable(pair: Pair, dot: Dot, view: View) -> bool:
    return all(_value(pair, dot, name) is not None for name in (view.x, view.y))


def _value(pair: Pair, dot: Dot, name: str) -> Value | float | None:
    match name:
        case "time":
            return dot.time_us if isinstance(dot, Sample) else None
        case "rate":
            return pair.flops / dot.time_us / 1e6 if isinstance(dot, Sample) else None
        case "trial":
            return dot.number
        case _:
            return dot.fields.get(name)


def _is(dot: Dot, name: str, value: str) -> bool:
    return name in dot.fields and str(dot.fields[name]) == value


def _spread(dots: Sequence[Dot], most: int) -> Sequence[Dot]:
    return dots if len(dots) <= most else [dots[i * len(dots) // most] for i in range(most)]
