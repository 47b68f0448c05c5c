"""What the forms of schedules and windows are filled with."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel

from service.api.jobs.schemas import (
    BudgetBody,
    JobBody,
)
from service.api.maintenance.schemas import WindowOut
from service.api.schedules.schemas import (
    Kind,
    MissedBody,
    ScheduleBody,
    ScheduleOut,
    StaleBody,
)
from service.api.shapes.schemas import ShapeSetBody
from service.dashboard.forms import first_job, first_set

_TRIALS = 50


@dataclass(frozen=True, slots=True)
class ScheduleFields:
    """A schedule as its form says it; of the kinds of work that it is not, what a new one would say.

    `unreadable` says that its work was stored by another version. `stored` is the request that would make it again, as
    JSON, without work that is unreadable; None before it is made.
    """

    name: str
    cron: str
    timezone: str
    kind: Kind
    job: JobBody
    shapes: ShapeSetBody
    stale: StaleBody
    missed: MissedBody
    misfire_grace_s: int
    unreadable: bool
    stored: str | None = None


@dataclass(frozen=True, slots=True)
class WindowFields:
    """A window of maintenance that is not made yet."""

    name: str = ""
    device: str | None = None
    cron: str | None = None
    timezone: str | None = None
    duration_s: int | None = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None


def new_schedule() -> ScheduleFields:
    """What the form says at first."""
    stale = StaleBody(budget=BudgetBody(trials=_TRIALS, seconds=300.0))
    job, missed = first_job(_TRIALS), MissedBody(most=3)
    return ScheduleFields("", "30 2 * * mon-fri", "UTC", "job", job, first_set(), stale, missed, 300, False)


def fields_of(schedule: ScheduleOut) -> ScheduleFields:
    """What the form of a schedule that exists says."""
    new = new_schedule()
    work = {"job": schedule.job, "shapes": schedule.shapes, "stale": schedule.stale}[schedule.kind]
    return ScheduleFields(
        name=schedule.name,
        cron=schedule.cron,
        timezone=schedule.timezone,
        kind=schedule.kind,
        job=work if isinstance(work, JobBody) else new.job,
        shapes=work if isinstance(work, ShapeSetBody) else new.shapes,
        stale=work if isinstance(work, StaleBody) else new.stale,
        missed=schedule.missed,
        misfire_grace_s=schedule.misfire_grace_s,
        unreadable=isinstance(work, dict),
        stored=stored(schedule, ScheduleBody, leave=schedule.kind if isinstance(work, dict) else None),
    )


def stored(found: ScheduleOut | WindowOut, body: type[BaseModel], leave: str | None = None) -> str:
    """The request that would make what was found again, as JSON; without its field `leave`."""
    names = {name for name in body.model_fields if name != leave}
    return found.model_dump_json(include=names, exclude_none=True)
