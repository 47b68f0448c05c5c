"""xetune recordings: results that files of other formats brought."""

from typing import Annotated
from uuid import UUID

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from db import models, recordings
from service.cli.backend.stored import stored
from service.cli.options.problem import AsJson
from service.cli.printing.output import CONSOLE, print_json
from service.convert import config_line, problem_line
from service.errors import NotFound

_SHOWN = 20
_NUMBERS = ("number", "tried", "timed", "time_us", "best_us")


def recordings_command(
    recording: Annotated[UUID | None, typer.Argument(help="Id of one, to show its configurations.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Most configurations shown.")] = _SHOWN,
    as_json: AsJson = False,
) -> None:
    """List what was imported from Kernel Tuner and T4 files, or show one, fastest first."""
    with stored() as store, store.database.read() as session:
        if recording is None:
            rows = [_line(*found) for found in recordings.list_all(session)]
            shown = {"recordings": rows}
        else:
            found = recordings.get(session, recording)
            if found is None:
                raise NotFound(f"recording {recording} does not exist; `xetune recordings` lists those that do")
            rows = [_tried(row) for row in _fastest_first(found)[:limit]]
            shown = {"recording": str(found.id), "evidence": _evidence(found), "configurations": rows}
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


def _line(recording: models.Recording, tried: int, timed: int, best_us: float | None) -> dict[str, object]:
    return {
        "id": str(recording.id),
        "problem": problem_line(recording.problem.definition),
        "device": recording.device.slug,
        "origin": recording.origin,
        "format": recording.format,
        "tried": tried,
        "timed": timed,
        "best_us": best_us,
    }


def _evidence(recording: models.Recording) -> str:
    return f"measured elsewhere ({recording.origin}, {recording.label}, on {recording.named}); numbers not proven here"


def _tried(row: models.RecordedTrial) -> dict[str, object]:
    return {
        "number": row.number,
        "time_us": row.time_us,
        "result": row.status if row.reason is None else f"{row.status}: {row.reason}",
        "configuration": config_line(row.config),
    }


def _fastest_first(recording: models.Recording) -> list[models.RecordedTrial]:
    return sorted(recording.tried, key=lambda row: (row.time_us is None, row.time_us or 0.0, row.number))


def _stacked(rows: list[dict[str, object]]) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("recording", overflow="fold", min_width=36)
    table.add_column("device, from, format", overflow="fold")
    table.add_column("timed", justify="right", no_wrap=True)
    table.add_column("best us", justify="right", no_wrap=True)
    for row in rows:
        best = f"{row['best_us']:.4g}" if isinstance(row["best_us"], float) else "-"
        timed = f"{row['timed']} of\n{row['tried']}"
        table.add_row(
            f"{row['id']}\n{row['problem']}", f"{row['device']}\n{row['origin']}\n{row['format']}", timed, best
        )
    return table


def _table(rows: list[dict[str, object]]) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for name in rows[0]:
        justify = "right" if name in _NUMBERS else "left"
        table.add_column(name, overflow="fold", justify=justify, no_wrap=name == "id")
    for row in rows:
        table.add_row(*(f"{v:.3f}" if isinstance(v, float) else "-" if v is None else str(v) for v in row.values()))
    return table
