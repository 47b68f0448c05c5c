"""xetune schedules: jobs and shape sets that start on a schedule."""

from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import typer

from service.api.jobs.defaults import SECONDS, TRIALS
from service.cli.access.opening import open_access
from service.cli.default_command import FirstByDefault
from service.cli.devices.drivers import asking_drivers
from service.cli.ids import HELP
from service.cli.options.output import AsJson
from service.cli.printing.output import CONSOLE, print_json, text_table

app = typer.Typer(cls=FirstByDefault, help="Create, list and run schedules of jobs.")
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
Named = Annotated[str, typer.Argument(metavar="SCHEDULE", help=f"Name or id of the schedule; of an id: {HELP}")]


@app.command("list")
def list_command(as_json: AsJson = False) -> None:
    """List schedules, with their next and last runs."""
    from service.cli.operating.schedule_tables import SCHEDULES, table_of

    with open_access() as access:
        found = access.read(SCHEDULES)
    if as_json:
        print_json(found.model_dump(mode="json"))
    elif not found.schedules:
        CONSOLE.print("No schedule yet. One that tunes stale results again every night:")
        CONSOLE.print('xetune schedules create nightly --cron "30 2 * * *" --stale 20', highlight=False)
    else:
        CONSOLE.print(table_of(found.schedules))


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
    trials: Annotated[int, typer.Option(help="With --stale: maximum trials of each job.")] = TRIALS,
    seconds: Annotated[float, typer.Option(help="With --stale: time budget of each job, in seconds.")] = SECONDS,
    missed: Annotated[str, typer.Option(help="Missed runs: skip, once (one for all), or all.")] = "skip",
    most: Annotated[int, typer.Option(help="With --missed all: maximum number of missed runs.")] = 1,
    grace: Annotated[int, typer.Option(help="With --missed skip: how late a run may be, in seconds.")] = 300,
    as_json: AsJson = False,
) -> None:
    """Create a schedule of a job, a shape set, or jobs for stale results."""
    from service.api.schedules.schemas import ScheduleBody
    from service.cli.operating.schedule_tables import creation_of, moment, say
    from service.cli.options.documents import read_json
    from service.cli.options.naming import told_by_options
    from service.errors import BadRequest

    given = [name for name, work in (("--job", job), ("--shapes", shapes), ("--stale", stale)) if work is not None]
    if len(given) != 1:
        raise BadRequest(f"expected one of --job, --shapes and --stale, got {' and '.join(given) or 'none'}")
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
    with open_access() as access, told_by_options(_OPTIONS):
        made = access.do(creation_of(ScheduleBody.model_validate(values))).answer
    say(made, as_json, f"schedule {made.name}: first run {moment(made.next_due_at)}")


@app.command("show")
def show_command(schedule: Named, as_json: AsJson = False) -> None:
    """Show a schedule."""
    from service.cli.operating.schedule_tables import id_of, schedule_of, table_of

    with open_access() as access:
        found = access.read(schedule_of(id_of(access, schedule)))
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        CONSOLE.print(table_of([found]))
        print_json(found.model_dump(mode="json", exclude={"fires"}, exclude_none=True))


@app.command("pause")
def pause_command(schedule: Named, as_json: AsJson = False) -> None:
    """Pause a schedule."""
    from service.cli.operating.schedule_tables import id_of, pause_of, say

    with open_access() as access:
        paused = access.do(pause_of(id_of(access, schedule))).answer
    say(paused, as_json, f"schedule {paused.name} is paused")


@app.command("resume")
def resume_command(schedule: Named, as_json: AsJson = False) -> None:
    """Resume a schedule; runs missed during the pause are skipped."""
    from service.cli.operating.schedule_tables import id_of, moment, resumption_of, say

    with open_access() as access:
        resumed = access.do(resumption_of(id_of(access, schedule))).answer
    say(resumed, as_json, f"schedule {resumed.name}: next run {moment(resumed.next_due_at)}")


@app.command("run")
def run_command(schedule: Named, as_json: AsJson = False) -> None:
    """Start a run now, in addition to the due times; a worker runs it."""
    with asking_drivers() as probes, open_access(probes) as access:
        from service.cli.operating.schedule_tables import id_of, result, run_of, say

        fire = access.do(run_of(id_of(access, schedule))).answer
    say(fire, as_json, f"schedule {schedule}: {result(fire)}")


@app.command("next")
def next_command(
    schedule: Named,
    count: Annotated[int, typer.Option(min=1, max=100, help="Number of due times.")] = 5,
    as_json: AsJson = False,
) -> None:
    """Show the next due times of a schedule."""
    from service.cli.operating.schedule_tables import id_of, moment, next_times

    with open_access() as access:
        found = next_times(access, id_of(access, schedule), count)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    for due in found.due:
        CONSOLE.print(f"{due.local}  ({moment(due.due_at)})", highlight=False, soft_wrap=True)
    if not found.due:
        CONSOLE.print(f"never: it is paused; `xetune schedules resume {schedule}` resumes it")


@app.command("history")
def history_command(
    schedule: Named,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of runs.")] = 20,
    before: Annotated[int | None, typer.Option(min=0, max=2**62, help="Only runs below this number.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the runs of a schedule, newest first."""
    from service.cli.operating.schedule_tables import id_of, moment, result, runs

    with open_access() as access:
        page = runs(access, id_of(access, schedule), before, limit)
    if as_json:
        print_json(page.model_dump(mode="json"))
        return
    table = text_table("run", "due", "what came of it")
    for fire in page.fires:
        by = " (by hand)" if fire.by_hand else f" (for {fire.due_times} due times)" if fire.due_times > 1 else ""
        table.add_row(str(fire.id), f"{moment(fire.due_at)}{by}", result(fire))
    CONSOLE.print(table if page.fires else "It did not run yet.")
    if page.next_before is not None:
        CONSOLE.print(f"older ones: xetune schedules history {schedule} --before {page.next_before}", highlight=False)


@app.command("delete")
def delete_command(schedule: Named) -> None:
    """Delete a schedule and its history; the jobs that it started are kept."""
    from service.cli.operating.schedule_tables import id_of, removal_of

    with open_access() as access:
        access.remove(removal_of(id_of(access, schedule)))
    CONSOLE.print(f"schedule {schedule} is deleted", highlight=False)
