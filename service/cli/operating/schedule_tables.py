"""Schedules and their runs as text."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from pydantic import BaseModel
from rich.table import Table

from service.api.schedules.schemas import FireOut, FirePage, ScheduleList, ScheduleOut
from service.cli.access.connection import same
from service.cli.access.resource import Asked, Resource
from service.cli.ids import find_id
from service.cli.printing.output import CONSOLE, print_json, text_table
from service.errors import BadRequest, NotFound
from service.text.short_ids import short_ids

if TYPE_CHECKING:
    from service.http.context import Context
    from xetune_client import Client, models

_PAGE = 200


def _list(context: Context, _: Asked) -> ScheduleList:
    from service.api.schedules.service import list_schedules

    with context.database.read() as session:
        return list_schedules(session)


SCHEDULES = Resource("/v1/schedules", ScheduleList, _list)


def id_of(client: Client, schedule: str) -> UUID:
    """Return the id of a schedule by its name, or by its id as `find_id` reads it.

    Raises:
        NotFound: there is none.
    """
    found = client.schedules().schedules
    if (named := next((one.id for one in found if one.name == schedule), None)) is not None:
        return named
    newest = sorted((one.id for one in found), reverse=True)
    try:
        return find_id(schedule, "schedule", "xetune schedules list", lambda: iter(newest))
    except BadRequest as error:  # it is a name, and no id
        raise NotFound(f"no schedule {schedule!r}; `xetune schedules list` lists those that exist") from error


def runs(client: Client, schedule_id: UUID, before: int | None, limit: int) -> FirePage:
    """Return up to `limit` runs of a schedule, newest first."""
    from xetune_client import models

    found: list[models.FireOut] = []
    while True:
        page = client.fires(schedule_id, before=before, limit=min(limit - len(found), _PAGE))
        found, before = found + page.fires, page.next_before
        if before is None or len(found) >= limit:
            return same(FirePage, models.FirePage(fires=found, next_before=before))


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
