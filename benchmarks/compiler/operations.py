"""The table of operations: what parses, verifies, interprets, lowers, computes right numbers, and what IGC accepts.

Run: python -m benchmarks.compiler.operations [--ocloc PATH] > docs/operations.md
"""

import argparse
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.compiler.fresh_workers import each
from benchmarks.compiler.isa import chosen_ocloc
from codegen import CompileFailed, compile_module
from codegen.target import target_of
from codegen.xe.isa import (
    Ocloc,
    compile_native,
)
from hal.facts.xe import find
from tests.codegen.xe.operations.case import Case
from tests.codegen.xe.operations.catalogue import CASES
from tests.codegen.xe.operations.table import EIGHT_LANES, NO, YES, Row, on_eight_lanes, render, row_of

_GPUS = {"bmg": "b580", "pvc": "pvc"}


def main() -> None:
    """Judge every case and print the page; what went wrong goes to the error stream."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--ocloc", type=Path, help="Intel's offline compiler (default: the one installed)")
    arguments.add_argument("--processes", type=int, default=2)
    options = arguments.parse_args()
    rows: list[Row] = []
    judge = partial(_judged, ocloc=chosen_ocloc(options.ocloc))
    for case, (row, faults) in zip(CASES, each(judge, CASES, options.processes), strict=True):
        rows.append(row)
        for fault in faults:
            print(f"{case.name}: {fault}", file=sys.stderr, flush=True)
    print(render(rows, CASES), end="")


def _judged(case: Case, ocloc: Ocloc | None) -> tuple[Row, tuple[str, ...]]:
    """The row of a case on all devices, and what went wrong."""
    row, faults = row_of(case)
    for device in EIGHT_LANES:
        cell, refused = on_eight_lanes(case, device)
        row, faults = replace(row, **{device: cell}), faults + refused
    if ocloc is not None:
        refusals = {gpu: _refusals(case, gpu, ocloc) for gpu in _GPUS}
        row = replace(row, **{gpu: NO if said else YES for gpu, said in refusals.items()})
        faults += tuple(said for of_gpu in refusals.values() for said in of_gpu)
    return row, faults


def _refusals(case: Case, gpu: str, ocloc: Ocloc) -> tuple[str, ...]:
    """Refusals of a case by Intel's compiler, at each of its levels."""
    spec = find(_GPUS[gpu])
    codes = (compile_module(source, spec).stage("spirv").data for source in case.sources.values())
    return tuple(said for code in codes if (said := _refusal(code, gpu, ocloc)))


def _refusal(spirv: bytes, gpu: str, ocloc: Ocloc) -> str:
    """Refusal by the compiler, or the missing functions that its code calls; empty if it accepts."""
    try:
        compile_native(ocloc, spirv, target_of(find(_GPUS[gpu])))
    except CompileFailed as failure:
        return f"{gpu}: {failure.message}"
    return ""


if __name__ == "__main__":
    main()
