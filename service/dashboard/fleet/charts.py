"""Charts of the fleet over time: one line for each device."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.api.fleet.schemas import FleetCell, FleetOut, PeriodLength
from service.dashboard.charts.document import Chart, ChartAxis, Column, Mark, Row, Series
from service.dashboard.evidence import TimeEvidence
from service.dashboard.fleet.reading import device_rows

MOST_DEVICES = 5
"""Devices in a chart; the colours tell no more apart."""


class Topic(StrEnum):
    """Subject of a chart."""

    TRIALS = "trials"
    FAILURES = "failures"
    ERRORS = "errors"
    GAINS = "gains"


@dataclass(frozen=True, slots=True)
class Point:
    """A value of a device in a period, from `count` trials or jobs."""

    device: str
    place: int
    value: float
    count: int
    evidence: TimeEvidence | None = None


@dataclass(frozen=True, slots=True)
class _Shown:
    title: str
    axis: str
    value: Column
    count: str
    points: Callable[[FleetCell, int], Iterator[Point]]
    from_zero: bool


def fleet_chart(found: FleetOut, topic: Topic) -> Chart:
    """Return a chart of the devices with the most trials, each in the same colour in all charts."""
    shown, begins = _TOPICS[topic], _since_first(found)
    places = {begin: place for place, begin in enumerate(begins)}
    points = [point for cell in found.cells for point in shown.points(cell, places[cell.begin])]
    devices = [row.device for row in device_rows(found)]
    days = [f"{begin:%Y-%m-%d}" for begin in begins]
    of = "Weeks begin on Monday, UTC" if found.period is PeriodLength.WEEK else "Days are those of UTC"
    kept = devices[:MOST_DEVICES]
    left_out = f"; the {len(kept)} devices with the most trials of {len(devices)}" if len(devices) > len(kept) else ""
    series = [each for i, device in enumerate(kept) for each in _series(device, i, points, days)]
    return Chart(
        title=shown.title,
        note=f"{of}{left_out}. Trials and jobs count when the job was created.",
        columns=(Column("Week of" if found.period is PeriodLength.WEEK else "Day"), shown.value, Column(shown.count)),
        series=tuple(series),
        x=ChartAxis(0, "", scale="category", categories=tuple(days)),
        y=ChartAxis(1, shown.axis, shown.value.unit, from_zero=shown.from_zero),
        empty="There is nothing in these periods.",
    )


def _since_first(found: FleetOut) -> Sequence[datetime]:
    """Return the begins of the periods from the first with a job on; the last one stays."""
    first = min((cell.begin for cell in found.cells), default=found.begins[-1])
    return [begin for begin in found.begins if begin >= first]


def _series(device: str, colour: int, points: Sequence[Point], days: Sequence[str]) -> Iterator[Series]:
    """Yield dots of a device, and a line that breaks where a period has no value; one pair for each evidence."""
    own = [point for point in points if point.device == device]
    for evidence in dict.fromkeys(point.evidence for point in own):
        by_place = {point.place: point for point in own if point.evidence is evidence}
        name = device if evidence is None else f"{device}, {evidence.words}"
        rows: list[Row] = [(days[place], p.value, p.count) for place, p in sorted(by_place.items())]
        whole: list[Row] = [
            (day, by_place[place].value, by_place[place].count) if place in by_place else (day, None, None)
            for place, day in enumerate(days)
        ]
        link = f"/devices/{device}"
        yield Series(name, Mark.DOTS, rows, evidence, palette=colour, links=[link] * len(rows))
        yield Series(name, Mark.LINE, whole, evidence, palette=colour, part_of=name)


def _throughput(cell: FleetCell, place: int) -> Iterator[Point]:
    if cell.trials:
        yield Point(cell.device, place, cell.trials, cell.trials)


def _failures(cell: FleetCell, place: int) -> Iterator[Point]:
    if cell.failed_share is not None:
        yield Point(cell.device, place, 100 * cell.failed_share, cell.trials)


def _errors(cell: FleetCell, place: int) -> Iterator[Point]:
    if cell.off_by is not None:
        yield Point(cell.device, place, cell.off_by, cell.judged)


def _gains(cell: FleetCell, place: int) -> Iterator[Point]:
    for gain in cell.gains:
        yield Point(cell.device, place, gain.median, gain.jobs, TimeEvidence(gain.evidence))


_TOPICS = {
    Topic.TRIALS: _Shown("Trials", "Trials", Column("Trials"), "Trials", _throughput, True),
    Topic.FAILURES: _Shown("Trials without a time", "Share", Column("Share", "%"), "of trials", _failures, True),
    Topic.ERRORS: _Shown(
        "Prediction error, median",
        "Error",
        Column("Measured over predicted, or the inverse", "x"),
        "predictions",
        _errors,
        False,
    ),
    Topic.GAINS: _Shown("Gain over the default, median", "Gain", Column("Gain", "x"), "jobs", _gains, False),
}
