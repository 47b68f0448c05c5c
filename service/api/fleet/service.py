"""Aggregates of all devices over time, from the database."""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from db.queries import fleet
from db.queries.fleet import Period
from service.api.fleet.schemas import FleetCell, FleetOut, FleetQuery, GainOut, PeriodLength

_LENGTHS = {PeriodLength.DAY: timedelta(days=1), PeriodLength.WEEK: timedelta(days=7)}
_YOUNG = timedelta(weeks=4)
_TIMED = ("measured", "predicted")
_KEPT = 256
_KEPT_FOR, _OLD_KEPT_FOR = timedelta(minutes=10), timedelta(days=1)
"""Time after which one of the last two periods, or an older one, is read again without a change of its jobs: a later
job may have measured one of its predictions."""


@dataclass(frozen=True, slots=True)
class _Read:
    state: fleet.PeriodState
    at: datetime
    cells: tuple[FleetCell, ...]


_lock = threading.Lock()
_kept: OrderedDict[tuple[str, Period], _Read] = OrderedDict()


def read_fleet(session: Session, asked: FleetQuery, now: datetime) -> FleetOut:
    """Return the work of all devices, or of one, in the periods that end with the present one.

    A period whose jobs are as they were is not read again for ten minutes, an older one for a day: a view reads the
    trials of the others alone.
    """
    length = length_of(session, asked, now)
    periods = periods_until(now, length, asked.periods)
    states = fleet.states(session, periods)
    url = str(session.get_bind().engine.url)
    keys = [(url, period) for period in periods]
    with _lock:
        known = {key: _kept[key] for key in keys if key in _kept}
    found = {
        key: read
        for place, (key, state) in enumerate(zip(keys, states, strict=True))
        if (read := known.get(key)) is not None
        and read.state == state
        and now - (_KEPT_FOR if place >= len(periods) - 2 else _OLD_KEPT_FOR) < read.at <= now
    }
    missing = [place for place, key in enumerate(keys) if key not in found]
    for place, read_cells in zip(missing, _read(session, [periods[p] for p in missing]), strict=True):
        found[keys[place]] = _Read(states[place], now, tuple(read_cells))
    with _lock:
        for key in keys:
            _kept[key] = found[key]
            _kept.move_to_end(key)
        while len(_kept) > _KEPT:
            _kept.popitem(last=False)
    begins = [period.begin for period in periods]
    cells = [c for key in keys for c in found[key].cells if asked.device is None or c.device == asked.device]
    cells.sort(key=lambda cell: (cell.device, cell.begin))
    return FleetOut(period=length, since=begins[0], begins=begins, cells=cells)


def length_of(session: Session, asked: FleetQuery, now: datetime) -> PeriodLength:
    """Return the requested length of a period; by default a day for a young database, else a week."""
    if asked.period is not None:
        return asked.period
    first = fleet.first_job_at(session)
    return PeriodLength.DAY if first is None or now - first < _YOUNG else PeriodLength.WEEK


def periods_until(now: datetime, length: PeriodLength, count: int) -> Sequence[Period]:
    """Return the last `count` periods, oldest first; the last contains `now`."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    last = midnight - timedelta(days=midnight.weekday()) if length is PeriodLength.WEEK else midnight
    span = _LENGTHS[length]
    return [Period(last - place * span, last - (place - 1) * span) for place in reversed(range(count))]


def failed_share(outcomes: Mapping[str, int]) -> float:
    """Return the fraction of trials, at least one, without a time."""
    return 1 - sum(outcomes.get(status, 0) for status in _TIMED) / sum(outcomes.values())


def _read(session: Session, periods: Sequence[Period]) -> list[tuple[FleetCell, ...]]:
    """Return the cells of each period, by device."""
    if not periods:
        return []
    cells = {
        (row.place, row.device): FleetCell(
            device=row.device,
            begin=periods[row.place].begin,
            jobs=row.jobs,
            failed_jobs=row.failed,
            trials=0,
            outcomes={},
            work_s=row.seconds,
        )
        for row in fleet.work(session, periods)
    }
    for row in fleet.outcomes(session, periods):
        cells[row.place, row.device].outcomes[row.status] = row.count
    for row in fleet.prediction_errors(session, periods):
        cell = cells[row.place, row.device]
        cell.judged, cell.off_by = row.count, row.value
    for row in fleet.gains(session, periods):
        cells[row.place, row.device].gains.append(GainOut(evidence=row.kind, jobs=row.count, median=row.value))
    for cell in cells.values():
        _add_rates(cell)
    return [tuple(cells[key] for key in sorted(cells) if key[0] == place) for place in range(len(periods))]


def _add_rates(cell: FleetCell) -> None:
    cell.trials = sum(cell.outcomes.values())
    if cell.trials:
        cell.failed_share = failed_share(cell.outcomes)
    if cell.work_s > 0:
        cell.trials_per_hour = cell.trials / cell.work_s * 3600
