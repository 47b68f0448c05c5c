"""Values of the forms of schedules."""

from dataclasses import dataclass

from service.api.jobs.schemas import (
    BudgetBody,
    JobBody,
)
from service.api.schedules.schemas import (
    Kind,
    MissedBody,
    ScheduleBody,
    ScheduleOut,
    StaleBody,
)
from service.api.shapes.schemas import ShapeSetBody
from service.dashboard.forms import first_job, first_set


@dataclass(frozen=True, slots=True)
class ScheduleFields:
    """A schedule as its form says it; of the kinds of work that it is not, what a new one would say.

    `unreadable` says that its work was stored by another version. `stored` is the request that would make it again, as
    JSON, without work that is unreadable; None before it is made.
    """

    name: str
    cron: str
    timezone: str
    hours: str
    kind: Kind
    job: JobBody
    shapes: ShapeSetBody
    stale: StaleBody
    missed: MissedBody
    misfire_grace_s: int
    unreadable: bool
    stored: str | None = None


def new_schedule() -> ScheduleFields:
    """Return the initial values of the form."""
    stale = StaleBody(budget=BudgetBody(seconds=300.0))
    job, missed = first_job(), MissedBody(most=3)
    return ScheduleFields("", "30 2 * * mon-fri", "UTC", "", "job", job, first_set(), stale, missed, 300, False)


def fields_of(schedule: ScheduleOut) -> ScheduleFields:
    """Return the values of the form for an existing schedule."""
    new = new_schedule()
    work = {"job": schedule.job, "shapes": schedule.shapes, "stale": schedule.stale}[schedule.kind]
    return ScheduleFields(
        name=schedule.name,
        cron=schedule.cron,
        timezone=schedule.timezone,
        hours=schedule.hours or "",
        kind=schedule.kind,
        job=work if isinstance(work, JobBody) else new.job,
        shapes=work if isinstance(work, ShapeSetBody) else new.shapes,
        stale=work if isinstance(work, StaleBody) else new.stale,
        missed=schedule.missed,
        misfire_grace_s=schedule.misfire_grace_s,
        unreadable=isinstance(work, dict),
        stored=_stored(schedule, leave=schedule.kind if isinstance(work, dict) else None),
    )


def _stored(schedule: ScheduleOut, leave: str | None) -> str:
    """Return the request that would make a schedule again, as JSON, without its field `leave`."""
    names = {name for name in ScheduleBody.model_fields if name != leave}
    return schedule.model_dump_json(include=names, exclude_none=True)
