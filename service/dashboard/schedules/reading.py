"""Data of the pages of schedules: their work in words, due times, and results."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel
from sqlalchemy.orm import Session

from codegen import InvalidProblem
from service.api.jobs.schemas import JobBody
from service.api.schedules import service
from service.api.schedules.cron import (
    next_due,
    parse_cron,
)
from service.api.schedules.schemas import (
    FireOut,
    ScheduleOut,
    StaleBody,
)
from service.api.shapes.schemas import ShapeSetBody
from service.errors import BadRequest
from service.schemas import ProblemBody, to_problem

PREVIEWED = 5
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Due:
    """A due time, and its local time in the schedule's time zone."""

    at: datetime
    local: datetime

    @property
    def wall(self) -> str:
        """Local time as text: `Thu 5 March 2026, 02:30 CET`."""
        return f"{self.local:%a} {self.local.day} {self.local:%B %Y, %H:%M %Z}"


@dataclass(frozen=True, slots=True)
class Row:
    """A schedule in the list."""

    schedule: ScheduleOut
    work: str
    next: Due | None
    last: FireOut | None


def schedule_rows(session: Session) -> Iterator[Row]:
    """Every schedule, by name."""
    for schedule in service.list_schedules(session).schedules:
        at = schedule.next_due_at
        yield Row(
            schedule,
            work_of(schedule),
            None if at is None else _due(schedule.timezone, at),
            schedule.fires[0] if schedule.fires else None,
        )


def preview(cron: str, timezone: str, hours: str | None, now: datetime) -> list[Due]:
    """Return the next times of an expression; fewer when it comes due less often within nine years.

    Raises:
        BadRequest: rule `cron`, `timezone` or `hours`, with what is wrong.
    """
    read = parse_cron(cron, timezone, hours)
    found: list[Due] = []
    at = next_due(read, now)
    while at is not None and len(found) < PREVIEWED:
        found.append(Due(at, at.astimezone(read.zone)))
        at = next_due(read, at)
    return found


def next_times(session: Session, schedule: ScheduleOut) -> list[Due]:
    """Return the next due times of a schedule; none if its time zone or expression can no longer be read."""
    try:
        found = service.next_times(session, schedule.id, PREVIEWED).due
    except BadRequest:
        return []
    return [_due(schedule.timezone, due.due_at) for due in found]


def work_of(schedule: ScheduleOut) -> str:
    """Describe the work of a schedule in one line."""
    job, shapes, stale = schedule.job, schedule.shapes, schedule.stale
    if isinstance(job, JobBody):
        return f"tunes {_problem(job.problem)} on {job.device}"
    if isinstance(shapes, ShapeSetBody):
        return f"tunes {_shapes(shapes)} on {shapes.device}"
    if isinstance(stale, StaleBody):
        devices = "all devices" if stale.devices is None else _listed(stale.devices)
        return f"tunes stale results of {devices} again, at most {stale.most_jobs:,} jobs a run"
    return "was stored by another version; its runs are refused"


def budget_of(schedule: ScheduleOut) -> BaseModel | None:
    """Return the budget of each of its jobs, or of its set."""
    work = schedule.job or schedule.shapes or schedule.stale
    return work.budget if isinstance(work, JobBody | ShapeSetBody | StaleBody) else None


def missed_of(schedule: ScheduleOut) -> str:
    """Describe the policy for missed due times."""
    match schedule.missed.policy:
        case "skip":
            return f"the latest runs if it is at most {schedule.misfire_grace_s:,} s late, the others do not"
        case "once":
            return "one run makes up for all of them"
        case "all":
            return f"the newest {schedule.missed.most:,} get a run each, one after the other"


def _due(timezone: str, at: datetime) -> Due:
    try:
        zone = parse_cron("* * * * *", timezone).zone
    except BadRequest:  # a zone that this machine does not know any more: shown as it is kept, in UTC
        return Due(at, at)
    return Due(at, at.astimezone(zone))


def _problem(body: ProblemBody) -> str:
    try:
        return str(to_problem(body))
    except InvalidProblem:  # of a version with other rules: its runs are refused
        return f"{body.m}x{body.n}x{body.k}"


def _shapes(body: ShapeSetBody) -> str:
    if body.preset is not None:
        return f"the layers of {body.preset}"
    if body.shapes is not None:
        return f"a set of {len(body.shapes)} shapes"
    return "a set of shapes"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
