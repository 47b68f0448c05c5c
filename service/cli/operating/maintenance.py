"""xetune maintenance: times at which devices are not worked on."""

from datetime import UTC, datetime
from types import MappingProxyType
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from service.api.maintenance.schemas import (
    WindowBody,
    WindowOut,
)
from service.cli.backend.chosen import timetable
from service.cli.options.naming import told_by_options
from service.cli.options.problem import AsJson
from service.cli.printing.output import CONSOLE, print_json
from service.errors import BadRequest

_MOST_MINUTES = 7 * 24 * 60
_OPTIONS = MappingProxyType(
    {"name": "NAME", "starts_at": "--start", "ends_at": "--end", "duration_s": "--minutes"}
    | {name: f"--{name}" for name in ("device", "cron", "timezone")}
)

app = typer.Typer(help="Keep jobs from devices for a time.", invoke_without_command=True)


@app.callback()
def list_command(context: typer.Context, as_json: AsJson = False) -> None:
    """List windows of maintenance."""
    if context.invoked_subcommand is not None:
        return
    with timetable() as times:
        found = times.list_windows()
    if as_json:
        print_json(found.model_dump(mode="json"))
    elif not found.windows:
        CONSOLE.print("No window of maintenance. One for every Friday night:")
        CONSOLE.print('xetune maintenance create drivers --cron "0 22 * * fri" --minutes 120', highlight=False)
    else:
        CONSOLE.print(_table(found.windows))


@app.command("create")
def create_command(
    name: Annotated[str, typer.Argument(help="Unique name for people.")],
    device: Annotated[str | None, typer.Option(help="Id of the device (default: all).")] = None,
    cron: Annotated[str | None, typer.Option(help="When it begins, again and again.")] = None,
    timezone: Annotated[str | None, typer.Option(help="IANA time zone of --cron (default: UTC).")] = None,
    minutes: Annotated[
        int | None, typer.Option(min=1, max=_MOST_MINUTES, help="With --cron: how long it lasts.")
    ] = None,
    start: Annotated[
        str | None, typer.Option(help="Begin of a window that is once, such as 2026-03-06T22:00Z.")
    ] = None,
    end: Annotated[str | None, typer.Option(help="Its end.")] = None,
    as_json: AsJson = False,
) -> None:
    """Keep jobs from a device, or from all, for a time; one that runs is put back and goes on after."""
    recurs, once = (cron, minutes), (start, end)
    stray = once if None not in recurs else (*recurs, timezone)
    if (None in recurs) == (None in once) or any(value is not None for value in stray):
        raise BadRequest("expected either --cron and --minutes (and --timezone), or --start and --end", rule="window")
    values = {
        "name": name,
        "device": device,
        "cron": cron,
        "timezone": timezone,
        "duration_s": None if minutes is None else 60 * minutes,
        "starts_at": _moment("--start", start),
        "ends_at": _moment("--end", end),
    }
    with timetable() as times, told_by_options(_OPTIONS):
        made = times.create_window(WindowBody.model_validate(values))
    if as_json:
        print_json(made.model_dump(mode="json"))
    else:
        CONSOLE.print(_table([made]))


@app.command("delete")
def delete_command(window: Annotated[str, typer.Argument(help="Name or id of the window.")]) -> None:
    """Remove a window; one that is open ends."""
    with timetable() as times:
        times.delete_window(window)
    CONSOLE.print(f"window {window} is deleted", highlight=False)


def _moment(option: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadRequest(f"{option}: expected a time such as 2026-03-06T22:00Z, got {text!r}") from error
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _table(windows: list[WindowOut]) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("name", "device", "when", "now"):
        table.add_column(column, overflow="fold")
    for window in windows:
        if window.duration_s is not None:
            when = f"{window.cron}\n{window.timezone}\nfor {window.duration_s // 60} minutes"
        else:
            when = f"{window.starts_at:%Y-%m-%d %H:%M} UTC\nto {window.ends_at:%Y-%m-%d %H:%M} UTC"
        now = "not open" if window.open_until is None else f"open until {window.open_until:%Y-%m-%d %H:%M} UTC"
        table.add_row(window.name, window.device or "all", when, now)
    return table
