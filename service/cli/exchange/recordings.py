"""xetune recordings: results imported from files of other formats."""

from typing import Annotated
from uuid import UUID

import typer
from rich.table import Column, Table

from service.api.recordings.schemas import (
    RecordedOut,
    RecordingLine,
    RecordingOut,
    RecordingPage,
)
from service.cli.connection import connect, same
from service.cli.options.problem import AsJson
from service.cli.printing.output import CONSOLE, number_column, print_json, text_table
from service.configurations import ConfigBody
from service.errors import NotFound
from service.row_mapping import config_line
from service.schemas import to_problem
from xetune_client import Client
from xetune_client import NotFound as Missing

_SHOWN, _PAGE, _RECORDINGS_A_PAGE = 20, 1000, 200
_NUMBERS = ("number", "tried", "timed", "time_us", "best_us")


def recordings_command(
    recording: Annotated[UUID | None, typer.Argument(help="Id of the recording to show (default: list all).")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of configurations.")] = _SHOWN,
    as_json: AsJson = False,
) -> None:
    """List recordings imported from Kernel Tuner and T4 files, or show one, fastest first."""
    with connect() as client:
        if recording is None:
            rows = [_line(found) for found in _all(client)]
            shown = {"recordings": rows}
        else:
            try:
                found = _one(client, recording, limit)
            except Missing as error:
                message = f"recording {recording} does not exist; `xetune recordings` lists those that do"
                raise NotFound(message) from error
            rows = [_tried(row) for row in found.configurations]
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


def _all(client: Client) -> list[RecordingLine]:
    found: list[RecordingLine] = []
    before: UUID | None = None
    while True:
        page = same(RecordingPage, client.recordings(before=before, limit=_RECORDINGS_A_PAGE))
        found, before = found + page.recordings, page.next_before
        if before is None:
            return found


def _one(client: Client, recording: UUID, limit: int) -> RecordingOut:
    found = client.recording(recording, limit=min(limit, _PAGE))
    while found.next_after is not None and len(found.configurations) < limit:
        page = client.recording(recording, after=found.next_after, limit=min(limit - len(found.configurations), _PAGE))
        found.configurations += page.configurations
        found.next_after = page.next_after
    return same(RecordingOut, found)


def _line(recording: RecordingLine) -> dict[str, object]:
    return {
        "id": str(recording.id),
        "problem": str(to_problem(recording.problem)),
        "device": recording.device,
        "origin": recording.origin,
        "format": recording.format,
        "tried": recording.tried,
        "timed": recording.timed,
        "best_us": recording.best_us,
    }


def _evidence(recording: RecordingOut) -> str:
    return (
        f"measured elsewhere ({recording.origin}, {recording.label}, on {recording.named}); numbers not verified here"
    )


def _tried(row: RecordedOut) -> dict[str, object]:
    config = row.config.model_dump(mode="json") if isinstance(row.config, ConfigBody) else row.config
    return {
        "number": row.number,
        "time_us": row.time_us,
        "result": row.status if row.reason is None else f"{row.status}: {row.reason}",
        "configuration": config_line(config),
    }


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
