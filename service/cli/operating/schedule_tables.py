"""Schedules and their runs as text."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from pydantic import BaseModel
from rich.table import Table

from db.values import utc_now
from service.api.keys.caller import COMMAND_LINE
from service.api.schedules.schemas import DueList, FireOut, FirePage, ScheduleBody, ScheduleList, ScheduleOut
from service.cli.access.opening import Access
from service.cli.access.resource import Action, Done, Removal, Resource, changed, removed, stored
from service.cli.ids import find_id
from service.cli.printing.output import CONSOLE, print_json, text_table
from service.errors import BadRequest, NotFound
from service.text.short_ids import short_ids

if TYPE_CHECKING:
    from service.http.context import Context

_PAGE = 200
_SERVICE = "service.api.schedules.service"


SCHEDULES = stored("/v1/schedules", ScheduleList, f"{_SERVICE}:list_schedules")


def schedule_of(schedule_id: UUID) -> Resource[ScheduleOut]:
    """Return the resource of a schedule."""
    return stored(f"/v1/schedules/{schedule_id}", ScheduleOut, f"{_SERVICE}:read_schedule", schedule_id)


def pause_of(schedule_id: UUID) -> Action[ScheduleOut]:
    """Return the action that pauses a schedule."""
    path = f"/v1/schedules/{schedule_id}/pause"
    return changed(path, ScheduleOut, f"{_SERVICE}:pause", schedule_id)


def resumption_of(schedule_id: UUID) -> Action[ScheduleOut]:
    """Return the action that resumes a schedule."""
    path = f"/v1/schedules/{schedule_id}/resume"
    return changed(path, ScheduleOut, f"{_SERVICE}:resume", schedule_id, utc_now())


def creation_of(body: ScheduleBody) -> Action[ScheduleOut]:
    """Return the action that creates a schedule."""

    def create(context: Context) -> Done[ScheduleOut]:
        from service.api.schedules import service

        due_at = service.check(body, context, context.now())
        with context.database.write() as session:
            return Done(service.create(session, body, due_at, COMMAND_LINE), is_new=True)

    return Action("/v1/schedules", body, ScheduleOut, create, creates=True)


def run_of(schedule_id: UUID) -> Action[FireOut]:
    """Return the action that starts a run of a schedule now."""

    def run(context: Context) -> Done[FireOut]:
        from service.api.schedules import service

        work = service.work_now(context, schedule_id, COMMAND_LINE)
        most = context.settings.max_active_jobs
        with context.database.write() as session:
            return Done(service.run_now(session, schedule_id, work, COMMAND_LINE, most, context.now()), is_new=True)

    return Action(f"/v1/schedules/{schedule_id}/run", None, FireOut, run, creates=True)


def removal_of(schedule_id: UUID) -> Removal:
    """Return the removal of a schedule."""
    return removed("/v1/schedules", f"{_SERVICE}:delete", schedule_id)


def next_times(access: Access, schedule_id: UUID, count: int) -> DueList:
    """Return the next due times of a schedule."""
    path = f"/v1/schedules/{schedule_id}/next"
    return access.read(stored(path, DueList, f"{_SERVICE}:next_times", schedule_id, count), {"count": count})


def id_of(access: Access, schedule: str) -> UUID:
    """Return the id of a schedule by its name, or by its id as `find_id` reads it.

    Raises:
        NotFound: there is none.
    """
    found = access.read(SCHEDULES).schedules
    if (named := next((one.id for one in found if one.name == schedule), None)) is not None:
        return named
    newest = sorted((one.id for one in found), reverse=True)
    try:
        return find_id(schedule, "schedule", "xetune schedules list", lambda _: iter(newest))
    except BadRequest as error:  # it is a name, and no id
        raise NotFound(f"no schedule {schedule!r}; `xetune schedules list` lists those that exist") from error


def runs(access: Access, schedule_id: UUID, before: int | None, limit: int) -> FirePage:
    """Return up to `limit` runs of a schedule, newest first."""
    path, found = f"/v1/schedules/{schedule_id}/fires", list[FireOut]()
    while True:
        most = min(limit - len(found), _PAGE)
        fires = stored(path, FirePage, f"{_SERVICE}:history", schedule_id, before, most)
        page = access.read(fires, {"before": before, "limit": most})
        found, before = found + page.fires, page.next_before
        if before is None or len(found) >= limit:
            return FirePage(fires=found, next_before=before)


def say(made: BaseModel, as_json: bool, sentence: str) -> None:
    """Print a sentence, or the document for programs."""
    if as_json:
        print_json(made.model_dump(mode="json"))
    else:
        CONSOLE.print(sentence, highlight=False, soft_wrap=True)


def moment(at: datetime | None) -> str:
    """Return a moment in UTC; "never" for none."""
    return "never" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


def result(fire: FireOut) -> str:
    """Return what came of a run."""
    short = short_ids(fire.jobs)
    parts = [fire.outcome, *(f"job {short[job]}" for job in fire.jobs)]
    if fire.shape_set is not None:
        parts.append(f"set of shapes {short_ids([fire.shape_set])[fire.shape_set]}")
    return "\n".join([*parts, *([fire.reason] if fire.reason is not None else [])])


def table_of(schedules: list[ScheduleOut]) -> Table:
    """Return schedules as a table."""
    table = text_table("name", "starts", "when", "next run", "last run")
    for schedule in schedules:
        starts = {"job": "a job", "shapes": "a set of shapes", "stale": "jobs for stale results"}[schedule.kind]
        last = f"{moment(schedule.fires[0].due_at)}\n{schedule.fires[0].outcome}" if schedule.fires else "not yet"
        following = moment(schedule.next_due_at) if schedule.enabled else "paused"
        table.add_row(schedule.name, starts, _when(schedule), following, last)
    return table


def _when(schedule: ScheduleOut) -> str:
    return "\n".join([schedule.cron, schedule.timezone, *([schedule.hours] if schedule.hours is not None else [])])
