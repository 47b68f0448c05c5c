"""Policy of missed due times: which ones one check handles."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from db.schema.schedule import Schedule
from service.api.schedules.cron import (
    Passed,
    next_due,
    parse_cron,
    passed,
)


@dataclass(frozen=True, slots=True)
class Handled:
    """Result of one check: a run for `run_at` that covers `run_for` due times, and `missed` ones without a
    run, from `missed_at` on; the next due time to handle is `next_due_at`, which may have passed already.
    """

    run_at: datetime | None
    run_for: int
    missed_at: datetime | None
    missed: int
    next_due_at: datetime | None


def handle(schedule: Schedule, now: datetime) -> Handled:
    """Return which due times of a due schedule to handle now.

    Raises:
        BadRequest: its expression or time zone can no longer be read.
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
