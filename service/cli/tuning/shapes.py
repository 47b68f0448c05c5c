"""xetune tune --shapes and xetune shapes: sets of shapes under one budget."""

from typing import Annotated

import typer
from rich.table import Column

from service.cli import completing
from service.cli.access.opening import open_access
from service.cli.default_command import FirstByDefault
from service.cli.ids import HELP, find_set
from service.cli.options.output import AsJson
from service.cli.printing.output import CONSOLE, number_column, print_json, print_line, print_wrapped, text_table
from service.text.short_ids import short_ids

app = typer.Typer(cls=FirstByDefault, help="List, show, resume and cancel shape sets.")
SetId = Annotated[str, typer.Argument(metavar="SET", help=f"Id of the set: {HELP}", autocompletion=completing.sets)]


@app.command("list")
def list_command(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of sets.")] = 20, as_json: AsJson = False
) -> None:
    """List the newest shape sets."""
    from service.cli.tuning.shape_tables import newest

    with open_access() as access:
        found = newest(access, limit)
    if as_json:
        print_json({"shape_sets": [line.model_dump(mode="json") for line in found]})
    elif not found:
        CONSOLE.print("No sets of shapes yet. Start one: xetune tune --shapes llama-3.2-1b@tokens=1,16 --dtype bf16")
    else:
        table = text_table(Column("set", no_wrap=True), "source", number_column("shapes"), "status", spaced=True)
        short = short_ids(line.id for line in found)
        for line in found:
            of = f"{line.source}\n{line.device}\n{line.created_at:%Y-%m-%d %H:%M} UTC"
            table.add_row(short[line.id], of, str(line.shapes), line.status)
        CONSOLE.print(table)


@app.command("show")
def show_command(
    shape_set: SetId,
    within: Annotated[
        str | None, typer.Option(help="Bound for the recommended kernels, such as 10% (default: the set's).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a shape set: its shapes, and the fewest kernels that serve them."""
    from service.cli.options.percent import read_percent
    from service.cli.tuning.shape_sets import show

    bound = None if within is None else read_percent("--within", within)
    with open_access() as access:
        show(access, find_set(access, shape_set), bound, as_json)


@app.command("resume")
def resume_command(shape_set: SetId, as_json: AsJson = False) -> None:
    """Resume an interrupted set in this process, or follow the service that runs it."""
    from service.cli.tuning.shape_sets import run_set

    with open_access() as access:
        run_set(access, find_set(access, shape_set), as_json)


@app.command("cancel")
def cancel_command(shape_set: SetId, as_json: AsJson = False) -> None:
    """Cancel a set and its jobs; its results are kept."""
    from service.cli.tuning.actions import cancellation_of_set

    with open_access() as access:
        found = access.do(cancellation_of_set(find_set(access, shape_set))).answer
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_line(f"set of shapes {found.id}: {found.status}")


@app.command("delete")
def delete_command(shape_set: SetId) -> None:
    """Delete a finished set; its jobs and results are kept."""
    from service.cli.tuning.actions import removal_of_set

    with open_access() as access:
        access.remove(removal_of_set(set_id := find_set(access, shape_set)))
    print_line(f"set of shapes {set_id} is deleted; its jobs stay")


@app.command("presets")
def presets_command(
    models: Annotated[
        list[str] | None, typer.Argument(help="Models whose layers are shown.", autocompletion=completing.presets)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the models whose layers `xetune tune --shapes MODEL` tunes, or show the layers of some."""
    from service.api.shapes.service import presets
    from service.cli.tuning.shape_sets import layers
    from tuner.shapes.presets import find_model

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
        CONSOLE.print(layers(preset))
        print_wrapped(f"sizes are from {preset.source}, published {preset.published}")
        CONSOLE.print()
    CONSOLE.print("MODEL@tokens=1,16,128 sets M, MODEL@layers=qkv,down chooses layers; --layout nt is [N, K] weights")
