"""The least time for each pair of values of two parameters, over every trial of a problem on a device."""

import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import ColumnElement, Select, Text, cast, func, select
from sqlalchemy.orm import Session

from db.schema.trial import Measurement, Prediction, Trial
from service.dashboard.charts.document import Chart, ChartAxis, Column, Kind, Mark, Row, Series
from service.dashboard.evidence import TimeEvidence
from service.dashboard.problems.charts import ordered
from service.dashboard.problems.fields import Value, paths_of, value_of
from service.dashboard.problems.samples import Pair
from tuner.session.evidence import NATIVE

MOST_TRIALS = 200_000
"""Maximum number of trials that the database reads for a map; more are sampled."""
_LEFT = value_of(None)
_KEPT = 16  # maps of a pair


class Cell(NamedTuple):
    """The trials of two values: how many have a time, the least of them in us, and the page of that one."""

    x: Value
    y: Value
    time_us: float
    trials: int
    href: str


_lock = threading.Lock()
_kept: WeakKeyDictionary[Pair, OrderedDict[tuple[str, str], Chart]] = WeakKeyDictionary()


def read_heat_map(session: Session, pair: Pair, x: str, y: str) -> Chart:
    """Return the map of two parameters; the last few maps of a pair are cached with the pair."""
    with _lock:
        if (maps := _kept.get(pair)) is not None and (x, y) in maps:
            maps.move_to_end((x, y))
            return maps[x, y]
    made = heat_map(session, pair, x, y)
    with _lock:
        maps = _kept.setdefault(pair, OrderedDict())
        maps[x, y] = made
        if len(maps) > _KEPT:
            maps.popitem(last=False)
    return made


def heat_map(session: Session, pair: Pair, x: str, y: str, *, of_samples: bool = False) -> Chart:
    """The least time for each pair of values of two parameters; `of_samples`: of the pair's samples alone."""
    own = pair.measured or pair.of(TimeEvidence.PREDICTED)
    evidence = own[0].evidence if own else None
    cells: list[Cell] = []
    if evidence is not None:
        whole = pair.trials <= MOST_TRIALS and not of_samples
        cells = list(_of_all(session, pair, x, y, evidence) if whole else _of_samples(pair, x, y, evidence))
    rows: list[Row] = [cell[:4] for cell in cells]
    name = "" if evidence is None else evidence.words
    return Chart(
        title=f"Least time by {x} and {y}",
        note=_note(pair, name, sum(cell.trials for cell in cells)),
        columns=(Column(x.capitalize()), Column(y.capitalize()), Column("Least time", "µs"), Column("Trials")),
        series=(Series(f"least time, {name}", Mark.CELLS, rows, evidence, links=[cell.href for cell in cells]),)
        if rows
        else (),
        kind=Kind.HEAT,
        x=ChartAxis(0, x.capitalize(), scale="category", categories=ordered(cell.x for cell in cells), field=x),
        y=ChartAxis(1, y.capitalize(), scale="category", categories=ordered(cell.y for cell in cells), field=y),
        color=ChartAxis(2, "Least time", "µs"),
        empty="No trial with a time has both parameters.",
    )


def _note(pair: Pair, name: str, timed: int) -> str:
    if not timed:
        return f"{pair.note}."
    if pair.trials > MOST_TRIALS:
        return f"{name.capitalize()}. {pair.note}."
    return f"{name.capitalize()}. Of all {timed:,} such times among {pair.trials:,} trials of {pair.jobs_note}."


class _Parameter(NamedTuple):
    """A parameter as the database knows it: its JSON text, null where it is null or not there; `taken` by samples."""

    text: ColumnElement[str | None]
    taken: frozenset[Value]

    def value(self, text: str | None) -> Value | None:
        """Return the value of a column's text; None if the trial has no such parameter."""
        if text is None:
            return _LEFT if _LEFT in self.taken else None
        found = json.loads(text)
        # SQLite has no truth values: it answers 1 and 0.
        return value_of(bool(found) if found in (0, 1) and self.taken & {"yes", "no"} else found)


def _of_all(session: Session, pair: Pair, x: str, y: str, evidence: TimeEvidence) -> Iterator[Cell]:
    across, upwards = _parameter(pair, x), _parameter(pair, y)
    if across is None or upwards is None:
        return
    time_us, trials = _timed(pair, evidence)
    both = across.text, upwards.text
    first = time_us, Trial.job_id, Trial.number
    rank = func.row_number().over(partition_by=both, order_by=first).label("rank")
    number = func.count().over(partition_by=both).label("trials")
    columns = (both[0].label("x"), both[1].label("y"), time_us.label("time_us"), number, Trial.job_id, Trial.number)
    inner = trials.with_only_columns(*columns, rank).subquery()
    least = select(inner).where(inner.c.rank == 1).order_by(inner.c.time_us)
    for left, right, us, count, job_id, trial, _ in session.execute(least):
        at = across.value(left), upwards.value(right)
        if at[0] is not None and at[1] is not None:
            yield Cell(at[0], at[1], us, count, f"/jobs/{job_id}/trials/{trial}")


def _parameter(pair: Pair, name: str) -> _Parameter | None:
    own = [sample for sample in pair.samples if name in sample.fields]
    paths = sorted({paths_of(sample.config)[name] for sample in own}, key=str)
    if not paths:
        return None
    texts = [func.nullif(cast(Trial.config[path], Text), "null") for path in paths]
    text = texts[0] if len(texts) == 1 else func.coalesce(*texts)
    return _Parameter(text, frozenset(sample.fields[name] for sample in own))


def _timed(pair: Pair, evidence: TimeEvidence) -> tuple[ColumnElement[float], Select[int]]:
    """The trials of a pair with times of one evidence, and the column of those."""
    trials = select(Trial.id).where(Trial.job_id.in_([job.id for job in pair.jobs]))
    if evidence is TimeEvidence.PREDICTED:
        trials = trials.join(Prediction, Prediction.trial_id == Trial.id)
        trials = trials.outerjoin(Measurement, Measurement.trial_id == Trial.id)
        return Prediction.time_us.expression, trials.where(Trial.status == "predicted", Measurement.trial_id.is_(None))
    native = Measurement.label == NATIVE
    trials = trials.join(Measurement, Measurement.trial_id == Trial.id).where(Trial.status == "measured")
    return Measurement.median_us.expression, trials.where(native if evidence is TimeEvidence.MEASURED else ~native)


def _of_samples(pair: Pair, x: str, y: str, evidence: TimeEvidence) -> Iterable[Cell]:
    cells: dict[tuple[Value, Value], Cell] = {}
    for sample in pair.of(evidence):  # the fastest first
        if x in sample.fields and y in sample.fields:
            at = sample.fields[x], sample.fields[y]
            before = cells.get(at)
            cells[at] = (
                Cell(*at, sample.time_us, 1, sample.href)
                if before is None
                else before._replace(trials=before.trials + 1)
            )
    return cells.values()
