"""xetune recordings: results imported from files of other formats."""

from typing import Annotated
from uuid import UUID

import typer
from rich.table import Column, Table

from service.cli.connection import connect
from service.cli.options.problem import AsJson
from service.cli.printing.output import CONSOLE, number_column, print_json, text_table

_SHOWN = 20
_NUMBERS = ("number", "tried", "timed", "time_us", "best_us")


def recordings_command(
    recording: Annotated[UUID | None, typer.Argument(help="Id of the recording to show (default: list all).")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of configurations.")] = _SHOWN,
    as_json: AsJson = False,
) -> None:
    """List recordings imported from Kernel Tuner and T4 files, or show one, fastest first."""
    from service.cli.exchange.recording_tables import every_recording, evidence, line, one, tried
    from service.errors import NotFound
    from xetune_client import NotFound as Missing

    with connect() as client:
        if recording is None:
            rows = [line(found) for found in every_recording(client)]
            shown = {"recordings": rows}
        else:
            try:
                found = one(client, recording, limit)
            except Missing as error:
                message = f"recording {recording} does not exist; `xetune recordings` lists those that do"
                raise NotFound(message) from error
            rows = [tried(row) for row in found.configurations]
            shown = {"recording": str(found.id), "evidence": evidence(found), "configurations": rows}
    if as_json:
        print_json(shown)
    elif not rows:
        CONSOLE.print(
            "No recordings. Import one: xetune import FILE --m 512 --n 384 --k 1024 --device b580",
            highlight=False,
            soft_wrap=True,
        )
    else:
        if "evidence" in shown:
            CONSOLE.print(f"times {shown['evidence']}", highlight=False, soft_wrap=True)
        CONSOLE.print(_stacked(rows) if recording is None else _table(rows))


def _stacked(rows: list[dict[str, object]]) -> Table:
    recording = Column("recording", overflow="fold", min_width=36)
    table = text_table(recording, "device, from, format", number_column("timed"), number_column("best us"))
    for row in rows:
        best = f"{row['best_us']:.4g}" if isinstance(row["best_us"], float) else "-"
        timed = f"{row['timed']} of\n{row['tried']}"
        table.add_row(
            f"{row['id']}\n{row['problem']}", f"{row['device']}\n{row['origin']}\n{row['format']}", timed, best
        )
    return table


def _table(rows: list[dict[str, object]]) -> Table:
    texts = {"id": Column("id", no_wrap=True)}
    table = text_table(*(number_column(name) if name in _NUMBERS else texts.get(name, name) for name in rows[0]))
    for row in rows:
        table.add_row(*(f"{v:.3f}" if isinstance(v, float) else "-" if v is None else str(v) for v in row.values()))
    return table
