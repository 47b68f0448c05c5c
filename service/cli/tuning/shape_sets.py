"""Shape sets: their sources, a run of one, and text."""

from dataclasses import fields
from pathlib import Path
from uuid import UUID

import typer
from rich.table import Column, Table

from service.api.jobs.status import JobStatus
from service.api.shapes.schemas import PresetOut, ShapeSetOut
from service.api.shapes.sources import read_shapes
from service.cli.access.chosen_server import server
from service.cli.access.opening import Access
from service.cli.printing.counted import counted
from service.cli.printing.output import number_column, print_json, text_table
from service.cli.tuning.shape_tables import print_set, set_of
from service.schemas import to_body
from tuner.shapes.fields import Base
from tuner.shapes.presets import is_preset


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


def run_set(access: Access, set_id: UUID, as_json: bool) -> None:
    """Run a set and print it; exit with status 1 if a shape has no result."""
    # Imported here: showing a set needs no coordinator.
    from service.cli.tuning.running import work_on_set

    work_on_set(access, set_id, server(), quiet=as_json)
    found = show(access, set_id, None, as_json)
    if any(shape.status is not JobStatus.SUCCEEDED for shape in found.shapes):
        raise typer.Exit(1)


def show(access: Access, set_id: UUID, within: float | None, as_json: bool) -> ShapeSetOut:
    """Print a set, with the kernels recommended within a bound; return it."""
    found = access.read(set_of(set_id), {"within": within})
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_set(found)
    return found


def layers(preset: PresetOut) -> Table:
    """Return the layers of a model as a table."""
    numbers = (number_column(heading) for heading in ("N", "K", "times in one pass"))
    table = text_table(Column("layer", no_wrap=True), *numbers, "", title=preset.name)
    for layer in preset.layers:
        experts = f"{layer.experts.per_token} of {layer.experts.count} experts" if layer.experts else ""
        pair = "gate and up" if layer.gated else ""
        kept = "" if layer.quantised else "not quantised"
        notes = ", ".join(note for note in (experts, pair, kept) if note)
        table.add_row(layer.name, str(layer.n), str(layer.k), str(layer.times), notes)
    return table
