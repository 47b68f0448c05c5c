"""Aggregates of all devices over time, from the database."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from db.queries import fleet
from db.queries.fleet import Period
from service.api.fleet.schemas import FleetCell, FleetOut, FleetQuery, GainOut, PeriodLength

_LENGTHS = {PeriodLength.DAY: timedelta(days=1), PeriodLength.WEEK: timedelta(days=7)}
_YOUNG = timedelta(weeks=4)
_TIMED = ("measured", "predicted")


def read_fleet(session: Session, asked: FleetQuery, now: datetime) -> FleetOut:
    """Return the work of all devices, or of one, in the periods that end with the present one."""
    length = length_of(session, asked, now)
    periods = periods_until(now, length, asked.periods)
    cells = {
        (row.device, row.place): FleetCell(
            device=row.device,
            begin=periods[row.place].begin,
            jobs=row.jobs,
            failed_jobs=row.failed,
            trials=0,
            outcomes={},
            work_s=row.seconds,
        )
        for row in fleet.work(session, periods, asked.device)
    }
    for row in fleet.outcomes(session, periods, asked.device):
        cells[row.device, row.place].outcomes[row.status] = row.count
    for row in fleet.prediction_errors(session, periods, asked.device):
        cell = cells[row.device, row.place]
        cell.judged, cell.off_by = row.count, row.value
    for row in fleet.gains(session, periods, asked.device):
        cells[row.device, row.place].gains.append(GainOut(evidence=row.kind, jobs=row.count, median=row.value))
    for cell in cells.values():
        _add_rates(cell)
    begins = [period.begin for period in periods]
    return FleetOut(period=length, since=begins[0], begins=begins, cells=[cells[key] for key in sorted(cells)])


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


def since_first_job(session: Session, periods: Sequence[Period]) -> Sequence[Period]:
    """Return the periods without those that ended before there was a job; the last one stays."""
    first = fleet.first_job_at(session)
    return [period for period in periods if first is not None and period.end > first] or periods[-1:]


def failed_share(outcomes: Mapping[str, int]) -> float:
    """Return the fraction of trials, at least one, without a time."""
    return 1 - sum(outcomes.get(status, 0) for status in _TIMED) / sum(outcomes.values())


def _add_rates(cell: FleetCell) -> None:
    cell.trials = sum(cell.outcomes.values())
    if cell.trials:
        cell.failed_share = failed_share(cell.outcomes)
    if cell.work_s > 0:
        cell.trials_per_hour = cell.trials / cell.work_s * 3600
