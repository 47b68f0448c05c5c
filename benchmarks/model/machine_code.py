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
from tuner.model.resolution import RESOLUTION
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
    ties: list[list[object]] = []
    for name, rows in tables.items():
        found = [times for row in rows if (times := _times(ocloc, row)) is not None]
        measured, formula, pipeline, burdens = np.array(found).T
        printed += [_judged(name, by, p, measured) for by, p in (("formula", formula), ("pipeline", pipeline))]
        if len({row.problem for row in rows}) == 1:
            orders = {"formula": formula, "burden": burdens, "pipeline": pipeline}
            ties += [_judged_ties(name, by, order, formula, measured) for by, order in orders.items()]
    judged = ("scale", "median error", "90 %", "spread", "Spearman", "pairs", "regret", "of five")
    columns = ("configurations", "number", "by", *judged)
    print_table("Time from machine code", columns, printed)
    judged = ("configurations", "tied with the best", "ordered by", "tied pairs", "right", "regret of the choice")
    print_table("Order within the model's resolution", judged, ties)


def _kept(rows: list[Row]) -> list[Row]:
    return [row for row, spills in zip(rows, may_spill(rows), strict=True) if not spills]


def _times(ocloc: Ocloc, row: Row) -> tuple[float, float, float, float] | None:
    """Measured time, times by formula and pipeline, and the burden; None if the configuration is not legal for us."""
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
    formula = predict(row.problem, row.config, spec)
    return row.time_us, formula.time_us, predict(row.problem, row.config, spec, known).time_us, formula.burden


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


def _judged_ties(name: str, by: str, order: Times, formula: Times, measured: Times) -> list[object]:
    """Judge an order of configurations that the formulas cannot tell apart; equals count half."""
    tied = formula <= RESOLUTION * formula.min()
    pairs = [
        (order[i] - order[j]) * (measured[i] - measured[j])
        for i, j in combinations(range(len(measured)), 2)
        if abs(np.log(formula[i] / formula[j])) < np.log(RESOLUTION) and abs(np.log(measured[i] / measured[j])) > _TIE
    ]
    right = np.mean([0.5 if not p else float(p > 0) for p in pairs])
    chosen = measured[tied][np.lexsort((formula[tied], order[tied]))[0]]
    return [name, int(tied.sum()), by, len(pairs), f"{right:.0%}", f"{chosen / measured.min() - 1:.0%}"]


if __name__ == "__main__":
    main()
