"""Accuracy of the model of Xe GPUs: ranking, cliffs, published times; constants fitted with devices left out.

Run: python -m benchmarks.model.evaluate --data DIR. DIR holds gemm_measured.csv, gemm_b70.csv and b60_gemm_bf16.csv.gz.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.model.choices import (
    best_by_roofline,
    best_time,
    tile_config,
    time_of,
)
from benchmarks.model.printing import (
    percent,
    print_table,
    spearman,
)
from benchmarks.model.ranking import (
    print_catalogue_fits,
    print_ranking,
)
from benchmarks.model.rows import (
    IMEX,
    Row,
    best_of_shapes,
    configured,
)
from benchmarks.model.screening import print_screening
from codegen import Extent, GemmProblem
from codegen.xe.rules import ceil_div
from hal import find
from tuner.model.xe import CONSTANTS, MODEL_VERSION, columns_of_space, predict_many
from tuner.space.xe.heuristic import default_config
from tuner.space.xe.space import xe_space


def main() -> None:
    """Print the tables, in Markdown."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, required=True, help="folder of the published tables")
    arguments.add_argument("--shapes", type=int, default=10, help="take every so many shapes of long tables")
    options = arguments.parse_args()
    rows = configured(options.data)
    print(f"Model {MODEL_VERSION}; every {options.shapes}th shape of long tables.", end=" ")
    _thinness(options.data, rows)
    print_catalogue_fits()
    print_ranking(rows)
    _cliffs(rows)
    _times(rows)
    print_screening(options.data)
    _shapes(options.data, options.shapes)
    _speed()


def _thinness(folder: Path, rows: list[Row]) -> None:
    total = sum(1 for _ in (folder / "gemm_measured.csv").open()) - 1
    shapes = {(row.device, row.problem) for row in rows}
    several = [s for s in shapes if len([r for r in rows if (r.device, r.problem) == s]) > 1]
    print(
        f"{total} published times, of which {len(rows)} state a configuration; {len(shapes)} devices and shapes, "
        f"{len(several)} of them with several configurations."
    )


def _cliffs(rows: list[Row]) -> None:
    def row(device: str, *words: str) -> Row:
        return next(r for r in rows if r.device == device and all(word in r.what for word in words))

    def ratio(slow: Row, fast: Row) -> tuple[str, str]:
        predicted = [time_of(r.problem, r.config, find(r.device)) for r in (slow, fast) if r.config is not None]
        return f"{slow.time_us / fast.time_us:.2f}", f"{predicted[0] / predicted[1]:.2f}"

    none, one, three = (row("b580", f"prefetch{d}", "load32x32") for d in (0, 1, 3))
    plain, grouped = row("max1550", "without group"), row("max1550", "with group")
    best, spilled = row("b60", "BM128"), row("b60", "spill (worst")
    square = GemmProblem(4096, 4096, 4096)
    spills = [time_of(square, tile_config(square, m, 256, 8, 4), find("b580")) for m in (512, 256)]
    print_table(
        "Cliffs: slower over faster time",
        ("what", "measured", "predicted", "used for fitting"),
        [
            ["prefetch 0 and 1 step ahead, B580", *ratio(none, one), "yes"],
            ["prefetch 1 and 3 steps ahead, B580", *ratio(one, three), "no"],
            ["loads of 8x16 and of 32x32, B580", *ratio(row("b580", "8x16"), three), "yes"],
            ["raster by rows and grouped, Max 1550", *ratio(plain, grouped), "yes"],
            ["tile of 512x256 that spills, B580", f"{17 / 1.46:.1f}", f"{spills[0] / spills[1]:.1f}", "yes"],
            ["tile of 256x512 that spills, B60", *ratio(spilled, best), "no"],
            ["one tile for all shapes, B580", "up to 25", f"up to {_one_tile():.0f}", "no"],
        ],
    )


def _one_tile() -> float:
    """Slowdown of the default of a large square against the best tile, over shapes that are used."""
    spec, square, worst = find("b580"), GemmProblem(4096, 4096, 4096), 0.0
    config = default_config(square, spec)
    for m, n, k in ((1, 4096, 14336), (8, 4096, 4096), (256, 256, 8192), (64, 64, 65536), (4096, 16, 4096)):
        problem = GemmProblem(m, n, k)
        groups = Extent(ceil_div(m, config.matmul.block.m), ceil_div(n, config.matmul.block.n), 1)
        taken = replace(config, matmul=replace(config.matmul, threads=groups))
        worst = max(worst, time_of(problem, taken, spec) / best_time(problem, spec))
    return worst


def _times(rows: list[Row]) -> None:
    """Predicted over measured times; the scale of a device is that of the others."""
    ratios = [time_of(r.problem, r.config, find(r.device)) / r.time_us for r in rows if r.config is not None]
    medians = {r.device: median(x for s, x in zip(rows, ratios, strict=True) if s.device != r.device) for r in rows}
    table: list[list[object]] = []
    for row, ratio in zip(rows, ratios, strict=True):
        p = row.problem
        shape, fitted = f"{p.m}x{p.n}x{p.k}", "yes" if row.fitted else "no"
        table.append(
            [
                row.device,
                shape,
                row.what.removeprefix(IMEX)[:60],
                row.time_us,
                ratio * row.time_us,
                ratio,
                ratio / medians[row.device],
                fitted,
            ]
        )
    headings = ("predicted over measured", "scaled by other devices", "used for fitting")
    print_table(
        "Published times with known configuration", ("device", "shape", "what", "us", "predicted us", *headings), table
    )
    judged = np.array(
        [abs(np.log(x / medians[r.device])) for r, x in zip(rows, ratios, strict=True) if not r.fitted], dtype=float
    )
    median_error, most = percent(judged, 0.5), percent(judged, 0.9)
    print(
        f"\nOf the {len(judged)} that no constant was fitted on: median error {median_error}, 90 % within {most}.",
        end=" ",
    )
    inside = sum(1 / CONSTANTS.interval < ratio < CONSTANTS.interval for ratio in ratios)
    print(f"The narrowest interval, a factor of {CONSTANTS.interval}, contains {inside} of {len(ratios)} times.")


def _shapes(folder: Path, every: int) -> None:
    table: list[list[object]] = []
    for title, (device, rows) in best_of_shapes(folder).items():
        spec, taken = find(device), rows[:: every if len(rows) > 1000 else 1]
        measured = np.array([r.time_us for r in taken])
        for name, chosen in (("model", best_time), ("roofline", best_by_roofline)):
            predicted = np.array([chosen(r.problem, spec) for r in taken])
            errors = np.log(predicted / measured)
            scaled = np.abs(errors - np.median(errors))
            quantiles = percent(scaled, 0.5), percent(scaled, 0.9)
            inside = f"{np.mean(np.abs(errors) < np.log(CONSTANTS.interval)):.0%}"
            table.append(
                [
                    title,
                    len(taken),
                    name,
                    *quantiles,
                    float(np.exp(np.median(errors))),
                    inside,
                    spearman(predicted, measured),
                ]
            )
    columns = ("table", "shapes", "by", "median error after one scale", "90 %", "scale", "in the interval", "Spearman")
    print_table("Published best times without configuration", columns, table)


def _speed() -> None:
    spec, problem = find("b580"), GemmProblem(4096, 4096, 4096)
    begin = time.process_time()
    space = xe_space(problem, spec)
    made = time.process_time()
    columns = columns_of_space(problem, space)
    read = time.process_time()
    predict_many(problem, columns, spec)
    ranked = time.process_time()
    print_table(
        "Prediction speed, CPU time of one core",
        ("configurations", "space s", "columns s", "predicted s", "predictions per second"),
        [[len(space), made - begin, read - made, ranked - read, f"{len(space) / (ranked - made):,.0f}"]],
    )


if __name__ == "__main__":
    main()
