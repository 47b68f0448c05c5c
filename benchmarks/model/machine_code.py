"""Times from the pipeline model of our machine code against those of the formulas, on published times.

Run: python -m benchmarks.model.machine_code --data DIR [--every 4] [--ocloc PATH]. Most rows are of others' code; only
their tiles are ours.
"""

import argparse
import sys
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.compiler.isa import chosen_ocloc
from benchmarks.model.printing import Times, percent, print_table, spearman
from benchmarks.model.rows import Row, configured, screened
from benchmarks.model.screening import may_spill
from codegen import CodegenError, compile_gemm
from codegen.target import target_of
from codegen.xe.isa import Ocloc, compile_kernel
from hal import find
from tuner.model.xe import predict
from tuner.model.xe.machine_code import step_clocks

_TIE = 0.02  # measured times that differ by less are no pair


def main() -> None:
    """Print errors, order and regret of both, for each table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, required=True, help="folder of the published tables")
    arguments.add_argument("--every", type=int, default=4, help="take every so many configurations of the NT screening")
    arguments.add_argument("--ocloc", type=Path, help="Intel's offline compiler (default: the one installed)")
    options = arguments.parse_args()
    ocloc = chosen_ocloc(options.ocloc)
    if ocloc is None:
        sys.exit("Intel's offline compiler is not here: run `xetune toolchain install`, or give --ocloc")
    screens = screened(options.data)
    tables = {
        "stated configurations": configured(options.data),
        "B70, NN": screens["NN"],
        "B70, NN, without tiles that spill": _kept(screens["NN"]),
        "B70, NT": screens["NT"][:: options.every],
    }
    printed: list[list[object]] = []
    for name, rows in tables.items():
        found = [times for row in rows if (times := _times(ocloc, row)) is not None]
        measured, formula, pipeline = np.array(found).T
        printed += [_judged(name, by, p, measured) for by, p in (("formula", formula), ("pipeline", pipeline))]
    judged = ("scale", "median error", "90 %", "spread", "Spearman", "pairs", "regret", "of five")
    columns = ("configurations", "number", "by", *judged)
    print_table("Time from machine code", columns, printed)


def _kept(rows: list[Row]) -> list[Row]:
    return [row for row, spills in zip(rows, may_spill(rows), strict=True) if not spills]


def _times(ocloc: Ocloc, row: Row) -> tuple[float, float, float] | None:
    """Measured time, and predicted ones by formula and by pipeline; None if the configuration is not legal for us."""
    if row.config is None:
        return None
    spec = find(row.device)
    try:
        code = compile_kernel(ocloc, compile_gemm(row.problem, row.config, spec), target_of(spec))
    except CodegenError as error:
        print(f"{row.what}: {error}", file=sys.stderr)
        return None
    report = next((r.pipeline for r in code.reports if r.pipeline is not None), None)
    if report is None:
        return None
    known = step_clocks(row.problem, row.config, spec, report)
    return (
        row.time_us,
        predict(row.problem, row.config, spec).time_us,
        predict(row.problem, row.config, spec, known).time_us,
    )


def _judged(name: str, by: str, predicted: Times, measured: Times) -> list[object]:
    errors, order = np.log(predicted / measured), np.argsort(predicted)
    right = [
        (predicted[i] - predicted[j]) * (measured[i] - measured[j]) > 0
        for i, j in combinations(range(len(measured)), 2)
        if abs(np.log(measured[i] / measured[j])) > _TIE
    ]
    regrets = (measured[order[:count]].min() / measured.min() - 1 for count in (1, 5))
    return [
        *(name, len(measured), by, float(np.exp(np.median(errors)))),
        *(percent(np.abs(errors), share) for share in (0.5, 0.9)),
        float(np.exp(np.subtract(*np.quantile(errors, (0.9, 0.1))))),
        spearman(predicted, measured),
        f"{np.mean(right):.0%}",
        *(f"{regret:.0%}" for regret in regrets),
    ]


if __name__ == "__main__":
    main()
