"""Set of shapes as tables: each shape, then the fewest kernels that serve all."""

from typing import TYPE_CHECKING
from uuid import UUID

from rich.table import Column, Table

from service.api.shapes.schemas import (
    CoverOut,
    KernelChoice,
    ShapeOut,
    ShapeSetLine,
    ShapeSetOut,
    ShapeSetPage,
)
from service.cli.access.opening import Access
from service.cli.access.resource import Asked, Resource, checked
from service.cli.printing.counted import counted
from service.cli.printing.evidence import shown_kind, shown_proof_short
from service.cli.printing.output import CONSOLE, number_column, print_wrapped, text_table
from service.gemm_json import config_line
from service.schemas import to_problem

if TYPE_CHECKING:
    from service.http.context import Context

_PAGE = 200
_WORDS = {
    "interleaved": "measured interleaved",
    "trial": "measured by single trials",
    "predicted": "predicted by the model",
    "none": "not known",
}


def _page(context: "Context", asked: Asked) -> ShapeSetPage:
    from service.api.shapes.service import list_sets
    from service.http.list_query import PageQuery

    query = checked(PageQuery, asked)
    with context.database.read() as session:
        return list_sets(session, query.limit, query.before)


SHAPE_SETS = Resource("/v1/shape-sets", ShapeSetPage, _page)


def newest(access: Access, limit: int) -> list[ShapeSetLine]:
    """Return up to `limit` sets, newest first."""
    found: list[ShapeSetLine] = []
    before: UUID | None = None
    while True:
        page = access.read(SHAPE_SETS, {"before": before, "limit": min(limit - len(found), _PAGE)})
        found, before = found + page.shape_sets, page.next_before
        if before is None or len(found) >= limit:
            return found


def set_of(set_id: UUID) -> Resource[ShapeSetOut]:
    """Return the resource of a set."""

    def read(context: "Context", asked: Asked) -> ShapeSetOut:
        from service.api.shapes.service import ShapeSetQuery, read_set

        query = checked(ShapeSetQuery, asked)
        with context.database.read() as session:
            return read_set(session, set_id, query.within)

    return Resource(f"/v1/shape-sets/{set_id}", ShapeSetOut, read)


def print_set(found: ShapeSetOut) -> None:
    """Print a set: its cost, its shapes, the recommended kernels, and the time of each kernel on each shape."""
    beyond = f" and {found.cross_trials} of other shapes' kernels" if found.cross_trials else ""
    print_wrapped(f"set of shapes {found.id}: {found.status}, {found.source} on {found.device}")
    CONSOLE.print(
        f"{found.trials - found.cross_trials} trials{beyond} in {found.spent_s:.0f} s; kernels: "
        f"{found.compiled} compiled, {counted(found.reused, 'cache hit')}",
        highlight=False,
    )
    CONSOLE.print(_shapes(found))
    if found.default_us is not None and found.tuned_us is not None:
        CONSOLE.print(
            f"weighted total: default {_us(found.default_us)}, tuned {_us(found.tuned_us)}, "
            f"{found.default_us / found.tuned_us:.2f} times as fast",
            highlight=False,
        )
    for number, shape in enumerate(found.shapes, start=1):
        if shape.error is not None:
            print_wrapped(f"shape {number}: {shape.error}", style="red")
    if found.cover is not None:
        _print_cover(found, found.cover)


def _shapes(found: ShapeSetOut) -> Table:
    numbers = (Column(heading, justify="right") for heading in ("trials", "default us", "tuned us", "gain"))
    shape, evidence = Column("shape", min_width=18), Column("evidence", min_width=16, no_wrap=True)
    table = text_table(number_column(""), shape, *numbers, evidence, title="shapes")
    for number, shape in enumerate(found.shapes, start=1):
        table.add_row(
            str(number),
            _named(shape),
            str(shape.trials),
            _number(shape.default_us),
            _number(shape.tuned_us),
            "-" if shape.gain is None else f"{shape.gain:.2f}",
            _evidence(shape),
        )
    return table


def _named(shape: ShapeOut) -> str:
    """Return the name, the problem, and the number of occurrences."""
    times = "" if shape.weight == 1 else f", {shape.weight:g} times"
    return "\n".join(part for part in (shape.name, f"{to_problem(shape.problem)}{times}") if part)


def _evidence(shape: ShapeOut) -> str:
    if shape.evidence is None or shape.evidence.time is None:
        return shape.status.value
    turns = "interleaved" if shape.interleaved else "single trials" if shape.evidence.time.kind == "measured" else ""
    proof = shown_proof_short(shape.evidence).replace("\n", " ")
    return "\n".join(part for part in (shown_kind(shape.evidence.time), turns, proof) if part)


def _print_cover(found: ShapeSetOut, cover: CoverOut) -> None:
    served = len(found.shapes) - len(cover.unserved)
    bound, tried = f"within {cover.within:.0%} of its best", f"of {len(cover.kernels)} kernels tried on all"
    binaries = "one binary in all" if cover.binaries == 1 else f"{cover.binaries} binaries in all"
    CONSOLE.print()
    if cover.one_each:
        print_wrapped(f"one kernel per shape: no fewer keep each {bound}, {tried}; {binaries}")
    else:
        print_wrapped(f"{len(cover.needed)} {tried} keep each of {served} shapes {bound}; {binaries}")
    if served:
        more = cover.total_us / cover.best_us - 1
        how = " and ".join(_WORDS[word] for word in cover.evidence)
        CONSOLE.print(f"their weighted total is {more:.1%} above that of the best of each; times are {how}")
    config = Column("configuration, as for its own shape", min_width=30)
    table = text_table(number_column("kernel"), config, Column("serves shapes"), number_column("binaries"))
    by_number = {kernel.number: kernel for kernel in cover.kernels}
    for number in cover.needed:
        kernel = by_number[number]
        config = kernel.model_dump(mode="json")["config"]
        serves = ", ".join(str(shape) for shape in kernel.serves)
        table.add_row(str(number), f"{config_line(config)} (shape {kernel.shape})", serves, _binaries(kernel))
    CONSOLE.print(table)
    CONSOLE.print(_matrix(found, cover))
    if cover.unserved:
        CONSOLE.print(f"without any time: shapes {', '.join(str(shape) for shape in cover.unserved)}")
    if cover.unknown:
        unknown = "one time is" if cover.unknown == 1 else f"{cover.unknown} times are"
        CONSOLE.print(
            f"{unknown} not known, because a rule refuses, time was up or it is of an earlier job; --json says why"
        )


def _binaries(kernel: KernelChoice) -> str:
    """Return the first digits of the hash of a single binary, else the number of binaries."""
    return kernel.content_hash[:12] if kernel.content_hash is not None else str(kernel.binaries or "-")


def _matrix(found: ShapeSetOut, cover: CoverOut) -> Table:
    """Render each needed kernel on each shape, as its time over the least."""
    kernels = (Column(str(kernel), justify="right") for kernel in cover.needed)
    title = "kernels by shape: times over the least known (* single trial, ~ predicted)"
    table = text_table(Column("shape", no_wrap=True), *kernels, title=title)
    cells = {(cell.kernel, cell.shape): cell for cell in cover.cells}
    marks = {"interleaved": "", "trial": "*", "predicted": "~", "none": ""}
    for place, shape in enumerate(found.shapes, start=1):
        row: list[str] = []
        for number in cover.needed:
            cell = cells.get((number, place))
            known = cell is not None and cell.slower is not None
            row.append(f"{cell.slower:.2f}{marks[cell.evidence]}" if cell is not None and known else "-")
        p = shape.problem
        table.add_row(f"{place}  {p.m}x{p.n}x{p.k}", *row)
    return table


def _us(value: float) -> str:
    return f"{value / 1000:.4g} ms" if value >= 1000 else f"{value:.4g} us"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:#.3g}" if value < 99.95 else f"{value:,.0f}"
