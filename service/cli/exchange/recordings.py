"""xetune recordings: results imported from files of other formats."""

from typing import Annotated
from uuid import UUID

import typer
from rich.table import Column, Table

from service.cli.access.opening import open_access
from service.cli.default_command import FirstByDefault
from service.cli.ids import HELP, find_recording
from service.cli.options.output import AsJson
from service.cli.printing.output import CONSOLE, number_column, print_json, print_wrapped, text_table
from service.text.short_ids import short_ids

_SHOWN = 20
app = typer.Typer(cls=FirstByDefault, help="List and show recordings of other autotuners.")
_NUMBERS = ("number", "tried", "timed", "time_us", "best_us")


@app.command("list")
def list_command(as_json: AsJson = False) -> None:
    """List recordings imported from Kernel Tuner and T4 files."""
    from service.cli.exchange.recording_tables import every_recording, line

    with open_access() as access:
        rows = [line(found) for found in every_recording(access)]
    if as_json:
        print_json({"recordings": rows})
    elif not rows:
        print_wrapped("No recordings. Import one: `xetune import FILE 512x384x1024 --device b580`")
    else:
        CONSOLE.print(_stacked(rows))


@app.command("show")
def show_command(
    recording: Annotated[str, typer.Argument(metavar="RECORDING", help=f"Id of the recording: {HELP}")],
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of configurations.")] = _SHOWN,
    as_json: AsJson = False,
) -> None:
    """Show the configurations of a recording, fastest first."""
    from service.cli.exchange.recording_tables import evidence, one, tried

    with open_access() as access:
        found = one(access, find_recording(access, recording), limit)
    rows = [tried(row) for row in found.configurations]
    if as_json:
        print_json({"recording": str(found.id), "evidence": evidence(found), "configurations": rows})
    else:
        print_wrapped(f"times {evidence(found)}")
        CONSOLE.print(_table(rows))
        if (left := found.tried - len(rows)) > 0:
            print_wrapped(f"{left} more not shown (--limit)")


def _stacked(rows: list[dict[str, object]]) -> Table:
    from service.text.times import shown_us

    names = Column("recording", no_wrap=True), "problem", "device, from, format"
    table = text_table(*names, number_column("timed"), number_column("best"), spaced=True)
    short = {str(whole): said for whole, said in short_ids(UUID(str(row["id"])) for row in rows).items()}
    for row in rows:
        best = shown_us(row["best_us"]) if isinstance(row["best_us"], float) else "-"
        timed = f"{row['timed']} of\n{row['tried']}"
        table.add_row(
            short[str(row["id"])],
            str(row["problem"]),
            f"{row['device']}\n{row['origin']}\n{row['format']}",
            timed,
            best,
        )
    return table


def _table(rows: list[dict[str, object]]) -> Table:
    texts = {"id": Column("id", no_wrap=True)}
    table = text_table(*(number_column(name) if name in _NUMBERS else texts.get(name, name) for name in rows[0]))
    for row in rows:
        table.add_row(*(f"{v:.3f}" if isinstance(v, float) else "-" if v is None else str(v) for v in row.values()))
    return table
