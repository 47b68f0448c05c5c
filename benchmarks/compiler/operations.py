"""The table of operations: what parses, verifies, interprets, lowers, computes right numbers, and what IGC accepts.

Run: python -m benchmarks.compiler.operations [--ocloc PATH] > docs/operations.md
With --gpu mtl (repeatable) only that GPU's columns are made; the others are the page's.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path

from benchmarks.compiler.fresh_workers import each
from benchmarks.compiler.isa import chosen_ocloc
from codegen import CompileFailed, KernelArtifact, compile_module
from codegen.target import target_of
from codegen.xe.isa import (
    Ocloc,
    check_native,
)
from hal.facts.xe import find
from tests.codegen.xe.operations.case import Case
from tests.codegen.xe.operations.catalogue import CASES
from tests.codegen.xe.operations.table import (
    ASKED,
    DEVICE,
    EIGHT_LANES,
    NO,
    NONE,
    NOT_ASKED,
    REFUSED,
    YES,
    Row,
    Verdicts,
    cell_of,
    device_of,
    read,
    render,
    row_of,
    verdicts_of,
)

_PAGE = Path(__file__).parents[2] / "docs/operations.md"
_OCLOC_S = 600.0  # on a machine that does other work, too
_GPUS = tuple(ASKED.values())


@dataclass(frozen=True, slots=True)
class Judged:
    """Cells of a case by column, and what went wrong or was refused."""

    cells: dict[str, str]
    faults: tuple[str, ...]


def main() -> None:
    """Judge every case and print the page; what went wrong goes to the error stream."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--ocloc", type=Path, help="Intel's offline compiler (default: the one installed)")
    arguments.add_argument("--processes", type=int, default=2)
    arguments.add_argument("--gpu", action="append", choices=_GPUS, help="GPU whose columns are made (default: all)")
    options = arguments.parse_args()
    ocloc = chosen_ocloc(options.ocloc)
    ocloc = None if ocloc is None else replace(ocloc, timeout_s=_OCLOC_S)
    work = partial(judged, gpus=tuple(options.gpu or _GPUS), ocloc=ocloc)
    known = {(row.operation, row.form): row for row in read(_PAGE.read_text())}
    rows: list[Row] = []
    for case, made in zip(CASES, each(work, CASES, options.processes), strict=True):
        rows.append(row_with(known.get((case.operation, case.form)), case, made))
        for fault in made.faults:
            print(f"{case.name}: {fault}", file=sys.stderr, flush=True)
    print(render(rows, CASES), end="")


def row_with(known: Row | None, case: Case, made: Judged) -> Row:
    """Return the row of a case: new cells in that of the page."""
    if known is None:
        known = Row(case.operation, case.form, *[NOT_ASKED] * (len(fields(Row)) - 2))
    return replace(known, **made.cells)


def judged(case: Case, gpus: tuple[str, ...], ocloc: Ocloc | None) -> Judged:
    """Judge a case for some GPUs."""
    cells, faults = dict[str, str](), list[str]()
    known: Verdicts | None = None
    for gpu in gpus:
        if gpu == DEVICE:
            verdicts = verdicts_of(case, device_of(case))
            row = row_of(case, verdicts)
            cells |= {f.name: cell for f in fields(Row) if (cell := getattr(row, f.name)) != NOT_ASKED}
        elif gpu in EIGHT_LANES:
            verdicts = known = verdicts_of(case, gpu, known)
            cells[f"right_{gpu}"] = cell_of(verdicts)
        else:
            verdicts = {}
        faults += [f"{gpu}: {verdict.fault}" for verdict in verdicts.values() if verdict.fault]
        (column,) = (name for name, asked in ASKED.items() if asked == gpu)
        if case.lanes is not None and gpu not in EIGHT_LANES:
            cells[column] = NONE
        elif ocloc is not None:
            artifacts = [v.artifact for v in verdicts.values() if v.artifact] if verdicts else _compiled(case, gpu)
            refusals = list(_refusals(artifacts, gpu, ocloc))
            cells[column] = NO if refusals else YES if artifacts else REFUSED
            faults += refusals
    return Judged(cells, tuple(faults))


def _compiled(case: Case, gpu: str) -> list[KernelArtifact]:
    return [compile_module(source, find(gpu)) for source in case.sources.values()]


def _refusals(artifacts: list[KernelArtifact], gpu: str, ocloc: Ocloc) -> Iterator[str]:
    """Refusals by Intel's compiler, or the missing functions that its code calls."""
    target = target_of(find(gpu))
    for code in dict.fromkeys(artifact.stage("spirv").data for artifact in artifacts):
        try:
            check_native(ocloc, code, target)
        except CompileFailed as failure:
            yield f"{gpu}: {failure.message}"


if __name__ == "__main__":
    main()
