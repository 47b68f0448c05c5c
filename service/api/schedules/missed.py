"""Which due times a look at a schedule handles, by what is to become of missed ones."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from db.schema import Schedule
from service.api.schedules.cron import (
    Passed,
    next_due,
    parse_cron,
    passed,
)


@dataclass(frozen=True, slots=True)
class Handled:
    """A look's part: a run for `run_at` that stands for `run_for` due times, and `missed` that get none, from
    `missed_at` on; the next due time to handle is `next_due_at`, which may have passed already.
    """

    run_at: datetime | None
    run_for: int
    missed_at: datetime | None
    missed: int
    next_due_at: datetime | None


def handle(schedule: Schedule, now: datetime) -> Handled:
    """What is to be done now of a schedule that is due.

    Raises:
        BadRequest: its expression or zone cannot be read any more.
    """
    cron, first = parse_cron(schedule.cron, schedule.timezone, schedule.hours), schedule.next_due_at
    assert first is not None
    match schedule.missed:
        case "once":
            found = passed(cron, first, now, 1)
            return Handled(found.newest[-1] if found.newest else None, found.number, None, 0, next_due(cron, now))
        case "all":
            found = passed(cron, first, now, schedule.missed_most)
            run_at = found.newest[0] if found.newest else None
            missed_at = first if found.earlier else None
            return Handled(run_at, 1, missed_at, found.earlier, next_due(cron, run_at or now))
        case _:
            found = passed(cron, first, now, 1)
            in_time = bool(found.newest) and found.newest[-1] >= now - timedelta(seconds=schedule.misfire_grace_s)
            return _skipping(first, found, in_time, next_due(cron, now))


def _skipping(first: datetime, found: Passed, in_time: bool, following: datetime | None) -> Handled:
    if in_time:
        return Handled(found.newest[-1], found.number, None, 0, following)
    return Handled(None, 0, first, max(found.number, 1), following)
