"""Charts of the fleet over time: one line for each device."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy.orm import Session

from db.queries import fleet
from db.queries.fleet import Period
from service.api.fleet.schemas import FleetQuery, PeriodLength
from service.api.fleet.service import failed_share, length_of, periods_until, since_first_job
from service.dashboard.charts.document import Chart, ChartAxis, Column, Mark, Row, Series
from service.dashboard.evidence import TimeEvidence

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
    points: Callable[[Session, Sequence[Period], str | None], Iterator[Point]]
    from_zero: bool


def fleet_chart(session: Session, topic: Topic, asked: FleetQuery, now: datetime) -> Chart:
    """Return a chart of the devices with the most trials or jobs in it."""
    shown, length = _TOPICS[topic], length_of(session, asked, now)
    periods = since_first_job(session, periods_until(now, length, asked.periods))
    points = list(shown.points(session, periods, asked.device))
    devices = _most(points)
    days = [f"{period.begin:%Y-%m-%d}" for period in periods]
    of = "Weeks begin on Monday, UTC" if length is PeriodLength.WEEK else "Days are those of UTC"
    kept = devices[:MOST_DEVICES]
    left_out = f"; the {len(kept)} devices with the most of {len(devices)}" if len(devices) > len(kept) else ""
    series = [each for i, device in enumerate(kept) for each in _series(device, i, points, days)]
    return Chart(
        title=shown.title,
        note=f"{of}{left_out}. Trials and jobs count when the job was created.",
        columns=(Column("Week of" if length is PeriodLength.WEEK else "Day"), shown.value, Column(shown.count)),
        series=tuple(series),
        x=ChartAxis(0, "", scale="category", categories=tuple(days)),
        y=ChartAxis(1, shown.axis, shown.value.unit, from_zero=shown.from_zero),
        empty="There is nothing in these periods.",
    )


def _most(points: Iterable[Point]) -> list[str]:
    counts: dict[str, int] = {}
    for point in points:
        counts[point.device] = counts.get(point.device, 0) + point.count
    return sorted(counts, key=lambda device: (-counts[device], device))


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


def _throughput(session: Session, periods: Sequence[Period], device: str | None) -> Iterator[Point]:
    counts: dict[tuple[str, int], int] = {}
    for row in fleet.outcomes(session, periods, device):
        key = row.device, row.place
        counts[key] = counts.get(key, 0) + row.count
    for (slug, place), count in sorted(counts.items()):
        yield Point(slug, place, count, count)


def _failures(session: Session, periods: Sequence[Period], device: str | None) -> Iterator[Point]:
    outcomes: dict[tuple[str, int], dict[str, int]] = {}
    for row in fleet.outcomes(session, periods, device):
        outcomes.setdefault((row.device, row.place), {})[row.status] = row.count
    for (slug, place), counts in sorted(outcomes.items()):
        yield Point(slug, place, 100 * failed_share(counts), sum(counts.values()))


def _errors(session: Session, periods: Sequence[Period], device: str | None) -> Iterator[Point]:
    for row in fleet.prediction_errors(session, periods, device):
        yield Point(row.device, row.place, row.value, row.count)


def _gains(session: Session, periods: Sequence[Period], device: str | None) -> Iterator[Point]:
    for row in fleet.gains(session, periods, device):
        yield Point(row.device, row.place, row.value, row.count, TimeEvidence(row.kind))


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
