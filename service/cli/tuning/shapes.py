"""xetune tune --shapes and xetune shapes: sets of shapes under one budget."""

from dataclasses import fields
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.table import Column, Table

from service.api.jobs.schemas import JobStatus
from service.api.shapes.schemas import (
    PresetOut,
    ShapeSetOut,
    ShapeSetPage,
)
from service.api.shapes.service import presets
from service.api.shapes.sources import read_shapes
from service.cli import completing
from service.cli.chosen_server import server
from service.cli.connection import connect, same
from service.cli.options.problem import AsJson
from service.cli.printing.counted import counted
from service.cli.printing.output import CONSOLE, number_column, print_json, print_line, text_table
from service.cli.tuning.running import work_on_set
from service.cli.tuning.shape_tables import print_set
from service.errors import BadRequest
from service.schemas import to_body
from tuner.shapes.fields import Base
from tuner.shapes.presets import find_model, is_preset
from xetune_client import Client

_PAGE = 200
app = typer.Typer(help="List, show, resume and cancel shape sets.", invoke_without_command=True)

SetId = Annotated[UUID, typer.Argument(help="Id of the set.", autocompletion=completing.sets)]


def read_within(text: str) -> float:
    """Return the fraction of "5%" or "0.05".

    Raises:
        BadRequest: it is neither.
    """
    number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        value = float(number) / (100 if percent else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise BadRequest(f"--within: expected 0% to 100%, or a fraction such as 0.05; got {text!r}")
    return value


def read_source(source: str, base: Base) -> tuple[dict[str, object], str]:
    """Return the fields of a request for the shapes of a source, and their description. A preset is sent by its
    name, which the service stores as the source.

    Raises:
        InvalidShapes: the source is not a list of shapes.
    """
    shapes = read_shapes(source, base)
    what = f"{counted(len(shapes), 'shape')} of {source}"
    if is_preset(source) and not Path(source).is_file() and not base.epilogue:
        common = {f.name: getattr(base, f.name) for f in fields(base) if f.name != "epilogue"}
        for name in ("gate", "quantization"):
            common[name] = "" if common[name] is None else str(common[name])
        return {"preset": source, "common": common}, what
    bodies = [{"problem": to_body(one.problem), "weight": one.weight, "name": one.name} for one in shapes]
    return {"shapes": bodies}, what


def run_set(client: Client, set_id: UUID, as_json: bool) -> None:
    """Run a set and print it; exit with status 1 if a shape has no result."""
    work_on_set(client, set_id, server(), quiet=as_json)
    found = _show(client, set_id, None, as_json)
    if any(shape.status is not JobStatus.SUCCEEDED for shape in found.shapes):
        raise typer.Exit(1)


def _show(client: Client, set_id: UUID, within: float | None, as_json: bool) -> ShapeSetOut:
    found = same(ShapeSetOut, client.shape_set(set_id, within=within))
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_set(found)
    return found


@app.callback()
def callback(context: typer.Context) -> None:
    """List the newest shape sets."""
    if context.invoked_subcommand is None:
        list_command()


@app.command("list")
def list_command(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of sets.")] = 20, as_json: AsJson = False
) -> None:
    """List the newest shape sets."""
    with connect() as client:
        found = same(ShapeSetPage, client.shape_sets(limit=min(limit, _PAGE))).shape_sets
    if as_json:
        print_json([line.model_dump(mode="json") for line in found])
    elif not found:
        CONSOLE.print("No sets of shapes yet. Start one: xetune tune --shapes llama-3.2-1b@tokens=1,16 --dtype bf16")
    else:
        table = text_table("set", "source", "shapes", "status")
        table.columns[0].min_width = 36
        for line in found:
            made = f"{line.status}\n{line.created_at:%Y-%m-%d %H:%M} UTC"
            table.add_row(f"{line.id}\n{line.device}", line.source, str(line.shapes), made)
        CONSOLE.print(table)


@app.command("show")
def show_command(
    set_id: SetId,
    within: Annotated[
        str | None, typer.Option(help="Bound for the recommended kernels, such as 10% (default: the set's).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a shape set: its shapes, and the fewest kernels that serve them."""
    bound = None if within is None else read_within(within)
    with connect() as client:
        _show(client, set_id, bound, as_json)


@app.command("resume")
def resume_command(set_id: SetId, as_json: AsJson = False) -> None:
    """Resume an interrupted set in this process, or follow the service that runs it."""
    with connect() as client:
        run_set(client, set_id, as_json)


@app.command("cancel")
def cancel_command(set_id: SetId, as_json: AsJson = False) -> None:
    """Cancel a set and its jobs; its results are kept."""
    with connect() as client:
        found = client.cancel_shape_set(set_id)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_line(f"set of shapes {found.id}: {found.status}")


@app.command("delete")
def delete_command(set_id: SetId) -> None:
    """Delete a finished set; its jobs and results are kept."""
    with connect() as client:
        client.delete_shape_set(set_id)
    print_line(f"set of shapes {set_id} is deleted; its jobs stay")


@app.command("presets")
def presets_command(
    models: Annotated[
        list[str] | None, typer.Argument(help="Models whose layers are shown.", autocompletion=completing.presets)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the models whose layers `xetune tune --shapes MODEL` tunes, or show the layers of some."""
    wanted = {find_model(name).name for name in models or ()}
    found = [preset for preset in presets().presets if not wanted or preset.name in wanted]
    if as_json:
        print_json({preset.name: preset.model_dump(mode="json", exclude={"name"}) for preset in found})
        return
    if not wanted:
        table = text_table(Column("preset", no_wrap=True), "layers", "sizes are from", spaced=True)
        for preset in found:
            names = ", ".join(layer.name for layer in preset.layers)
            table.add_row(preset.name, names, f"{preset.source}\npublished {preset.published}")
        CONSOLE.print(table)
    for preset in found if wanted else ():
        CONSOLE.print(_layers(preset))
        print_line(f"sizes are from {preset.source}, published {preset.published}\n")
    CONSOLE.print("MODEL@tokens=1,16,128 sets M, MODEL@layers=qkv,down chooses layers; --layout nt is [N, K] weights")


def _layers(preset: PresetOut) -> Table:
    numbers = (number_column(heading) for heading in ("N", "K", "times in one pass"))
    table = text_table(Column("layer", no_wrap=True), *numbers, "", title=preset.name)
    for layer in preset.layers:
        experts = f"{layer.experts.per_token} of {layer.experts.count} experts" if layer.experts else ""
        pair = "gate and up" if layer.gated else ""
        kept = "" if layer.quantised else "not quantised"
        notes = ", ".join(note for note in (experts, pair, kept) if note)
        table.add_row(layer.name, str(layer.n), str(layer.k), str(layer.times), notes)
    return table
