"""xetune schedules: jobs and shape sets that start on a schedule."""

from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Annotated
from uuid import UUID

import typer
from pydantic import BaseModel
from rich.table import Table

from service.api.schedules.schemas import (
    FireOut,
    FirePage,
    ScheduleBody,
    ScheduleList,
    ScheduleOut,
)
from service.cli.connection import connect, same
from service.cli.options.documents import read_json
from service.cli.options.naming import told_by_options
from service.cli.options.problem import AsJson
from service.cli.printing.output import CONSOLE, print_json, text_table
from service.errors import NotFound
from xetune_client import Client, models

_PAGE = 200
app = typer.Typer(help="Create, list and run schedules of jobs.", invoke_without_command=True)

_OPTIONS = MappingProxyType(
    {
        "name": "NAME",
        "misfire_grace_s": "--grace",
        "missed.policy": "--missed",
        "missed.most": "--most",
        "stale": "--stale",
        "stale.most_jobs": "--stale",
        "stale.devices": "--device",
        "stale.budget.trials": "--trials",
        "stale.budget.seconds": "--seconds",
    }
    | {name: f"--{name}" for name in ("cron", "timezone", "hours", "job", "shapes")}
)

Named = Annotated[str, typer.Argument(metavar="SCHEDULE", help="Name or id of the schedule.")]


@app.callback()
def list_command(context: typer.Context, as_json: AsJson = False) -> None:
    """List schedules, with their next and last runs."""
    if context.invoked_subcommand is not None:
        return
    with connect() as client:
        found = same(ScheduleList, client.schedules())
    if as_json:
        print_json(found.model_dump(mode="json"))
    elif not found.schedules:
        CONSOLE.print("No schedule yet. One that tunes stale results again every night:")
        CONSOLE.print('xetune schedules create nightly --cron "30 2 * * *" --stale 20', highlight=False)
    else:
        CONSOLE.print(_table(found.schedules))


@app.command("create")
def create_command(
    name: Annotated[str, typer.Argument(help="Unique name of the schedule.")],
    cron: Annotated[str, typer.Option(help='minute hour day month weekday, such as "30 2 * * mon-fri".')],
    timezone: Annotated[str, typer.Option(help="IANA time zone of --cron.")] = "UTC",
    hours: Annotated[
        str | None, typer.Option(help="Hours of the day in which runs may start, such as 20:00-06:00 (default: all).")
    ] = None,
    job: Annotated[
        Path | None, typer.Option(help="JSON file with the job of each run, in the format of POST /v1/jobs.")
    ] = None,
    shapes: Annotated[
        Path | None, typer.Option(help="Instead: JSON file with a shape set, in the format of POST /v1/shape-sets.")
    ] = None,
    stale: Annotated[
        int | None, typer.Option(metavar="N", help="Instead: queue jobs for up to N stale results.")
    ] = None,
    device: Annotated[list[str] | None, typer.Option(help="With --stale: only results of this device.")] = None,
    trials: Annotated[int, typer.Option(help="With --stale: maximum trials of each job.")] = 100,
    seconds: Annotated[float, typer.Option(help="With --stale: time budget of each job, in seconds.")] = 600.0,
    missed: Annotated[str, typer.Option(help="Missed runs: skip, once (one for all), or all.")] = "skip",
    most: Annotated[int, typer.Option(help="With --missed all: maximum number of missed runs.")] = 1,
    grace: Annotated[int, typer.Option(help="With --missed skip: how late a run may be, in seconds.")] = 300,
    as_json: AsJson = False,
) -> None:
    """Create a schedule of a job, a shape set, or jobs for stale results."""
    budget = {"trials": trials, "seconds": seconds}
    values = {
        "name": name,
        "cron": cron,
        "timezone": timezone,
        "hours": hours,
        "job": None if job is None else read_json("--job", job, "a job"),
        "shapes": None if shapes is None else read_json("--shapes", shapes, "a set of shapes"),
        "stale": None if stale is None else {"most_jobs": stale, "devices": device or None, "budget": budget},
        "missed": {"policy": missed, "most": most},
        "misfire_grace_s": grace,
    }
    with connect() as client, told_by_options(_OPTIONS):
        made = same(ScheduleOut, client.create_schedule(same(models.ScheduleBody, ScheduleBody.model_validate(values))))
    _say(made, as_json, f"schedule {made.name}: first run {_moment(made.next_due_at)}")


@app.command("show")
def show_command(schedule: Named, as_json: AsJson = False) -> None:
    """Show a schedule."""
    with connect() as client:
        found = same(ScheduleOut, client.schedule(_id_of(client, schedule)))
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        CONSOLE.print(_table([found]))
        print_json(found.model_dump(mode="json", exclude={"fires"}, exclude_none=True))


@app.command("pause")
def pause_command(schedule: Named, as_json: AsJson = False) -> None:
    """Pause a schedule."""
    with connect() as client:
        paused = client.pause_schedule(_id_of(client, schedule))
    _say(paused, as_json, f"schedule {paused.name} is paused")


@app.command("resume")
def resume_command(schedule: Named, as_json: AsJson = False) -> None:
    """Resume a schedule; runs missed during the pause are skipped."""
    with connect() as client:
        resumed = client.resume_schedule(_id_of(client, schedule))
    _say(resumed, as_json, f"schedule {resumed.name}: next run {_moment(resumed.next_due_at)}")


@app.command("run")
def run_command(schedule: Named, as_json: AsJson = False) -> None:
    """Start a run now, in addition to the due times; a worker runs it."""
    with connect() as client:
        fire = same(FireOut, client.run_schedule(_id_of(client, schedule)))
    _say(fire, as_json, f"schedule {schedule}: {_result(fire)}")


@app.command("next")
def next_command(
    schedule: Named,
    count: Annotated[int, typer.Option(min=1, max=100, help="Number of due times.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Show the next due times of a schedule."""
    with connect() as client:
        found = client.next_times(_id_of(client, schedule), count=count)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    for due in found.due:
        CONSOLE.print(f"{due.local}  ({_moment(due.due_at)})", highlight=False, soft_wrap=True)
    if not found.due:
        CONSOLE.print(f"never: it is paused; `xetune schedules resume {schedule}` resumes it")


@app.command("history")
def history_command(
    schedule: Named,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of runs.")] = 20,
    before: Annotated[int | None, typer.Option(help="Only runs below this number.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the runs of a schedule, newest first."""
    with connect() as client:
        page = _runs(client, _id_of(client, schedule), before, limit)
    if as_json:
        print_json(page.model_dump(mode="json"))
        return
    table = text_table("run", "due", "what came of it")
    for fire in page.fires:
        by = " (by hand)" if fire.by_hand else f" (for {fire.due_times} due times)" if fire.due_times > 1 else ""
        table.add_row(str(fire.id), f"{_moment(fire.due_at)}{by}", _result(fire))
    CONSOLE.print(table if page.fires else "It did not run yet.")
    if page.next_before is not None:
        CONSOLE.print(f"older ones: xetune schedules history {schedule} --before {page.next_before}", highlight=False)


@app.command("delete")
def delete_command(schedule: Named) -> None:
    """Delete a schedule and its history; the jobs that it started are kept."""
    with connect() as client:
        client.delete_schedule(_id_of(client, schedule))
    CONSOLE.print(f"schedule {schedule} is deleted", highlight=False)


def _id_of(client: Client, schedule: str) -> UUID:
    for one in client.schedules().schedules:
        if schedule in (one.name, str(one.id)):
            return one.id
    raise NotFound(f"no schedule {schedule!r}; `xetune schedules` lists those that exist")


def _runs(client: Client, schedule_id: UUID, before: int | None, limit: int) -> FirePage:
    found: list[models.FireOut] = []
    while True:
        page = client.fires(schedule_id, before=before, limit=min(limit - len(found), _PAGE))
        found, before = found + page.fires, page.next_before
        if before is None or len(found) >= limit:
            return same(FirePage, models.FirePage(fires=found, next_before=before))


def _say(made: BaseModel, as_json: bool, sentence: str) -> None:
    if as_json:
        print_json(made.model_dump(mode="json"))
    else:
        CONSOLE.print(sentence, highlight=False, soft_wrap=True)


def _moment(at: datetime | None) -> str:
    return "never" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


def _result(fire: FireOut) -> str:
    parts = [fire.outcome, *(f"job {job}" for job in fire.jobs)]
    if fire.shape_set is not None:
        parts.append(f"set of shapes {fire.shape_set}")
    return "\n".join([*parts, *([fire.reason] if fire.reason is not None else [])])


def _table(schedules: list[ScheduleOut]) -> Table:
    table = text_table("name", "starts", "when", "next run", "last run")
    for schedule in schedules:
        starts = {"job": "a job", "shapes": "a set of shapes", "stale": "jobs for stale results"}[schedule.kind]
        last = f"{_moment(schedule.fires[0].due_at)}\n{schedule.fires[0].outcome}" if schedule.fires else "not yet"
        following = _moment(schedule.next_due_at) if schedule.enabled else "paused"
        table.add_row(schedule.name, starts, _when(schedule), following, last)
    return table


def _when(schedule: ScheduleOut) -> str:
    return "\n".join([schedule.cron, schedule.timezone, *([schedule.hours] if schedule.hours is not None else [])])
