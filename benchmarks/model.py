"""How well the model of Xe GPUs predicts: ranking, cliffs, published times; constants fitted with devices left out.

Run: python -m benchmarks.model --data DIR. DIR holds gemm_measured.csv and b60_gemm_bf16.csv.gz.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks.model_rows import IMEX, Row, Strategy, best_of_shapes, catalogue, configured
from codegen import (
    Extent,
    GemmProblem,
    KernelConfig,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    SplitK,
    XeStrategy,
)
from codegen.rules import ceil_div, check_problem
from hal import DeviceSpec, find
from tuner.heuristic import default_config
from tuner.model import roofline
from tuner.model.core_clocks import core_clocks, gpu_rates
from tuner.model.xe import (
    CONSTANTS,
    MODEL_VERSION,
    Constants,
    columns_of,
    columns_of_axes,
    columns_of_space,
    predict_many,
)
from tuner.model.xe.core import core_time
from tuner.model.xe.device import case_of
from tuner.model.xe.work import work_of
from tuner.xe_space import xe_space

Times = NDArray[np.float64]
Ranker = Callable[[Sequence[tuple[GemmProblem, KernelConfig]], DeviceSpec], Times]

_DEVICES = {"Xe-HPC": "max1550", "Xe2-HPG": "b580"}
_FITTED = ("l2_bytes_per_clk_per_core", "near_clks", "far_clks")
_FACTORS, _ROUNDS = (0.5, 0.7, 0.85, 0.93, 1.07, 1.18, 1.4, 2.0), 4
# oneDNN writes its instructions itself: what our code needs beside multiplies does not hold for it.
_THEIR_CODE = replace(
    CONSTANTS,
    **dict.fromkeys(("sends_staged_a", "sends_staged_b", "sends_copied", "moves_staged_a", "moves_staged_b"), 0.0),
    moves_transposed_a=0.0,
    registers_loaded=0.0,
    registers_loaded_beyond=0.0,
    registers_staged_a=0.0,
    registers_staged_b=0.0,
    registers_copied=0.0,
)
_TIE = 0.02  # times that differ by less are no pair


def main() -> None:
    """Print the tables, in Markdown."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, required=True, help="folder of the published tables")
    arguments.add_argument("--shapes", type=int, default=10, help="take every so many shapes of long tables")
    options = arguments.parse_args()
    rows = configured(options.data)
    print(f"model {MODEL_VERSION}")
    _thinness(options.data, rows)
    _catalogue_fits()
    _ranking(rows)
    _cliffs(rows)
    _times(rows)
    _shapes(options.data, options.shapes)
    _speed()


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    print(f"\n### {title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(f'{cell:.3g}' if isinstance(cell, float) else str(cell) for cell in row)} |", flush=True)


def _thinness(folder: Path, rows: list[Row]) -> None:
    total = sum(1 for _ in (folder / "gemm_measured.csv").open()) - 1
    shapes = {(row.device, row.problem) for row in rows}
    several = [s for s in shapes if len([r for r in rows if (r.device, r.problem) == s]) > 1]
    print(
        f"{total} published times, of which {len(rows)} state a configuration; {len(shapes)} devices and shapes, "
        f"{len(several)} of them with several configurations."
    )


# The catalogue


def _clocks(strategies: list[Strategy], spec: DeviceSpec, constants: Constants) -> Times:
    """Clocks of an engine for a multiply-add."""
    problem, c = strategies[0].problem, columns_of([s.config for s in strategies])
    on = case_of(problem, spec, constants)
    work = work_of(on, c)
    times = (work.rounds * work.resident + work.left) * work.turns * work.steps
    return core_time(on, c, work).total * on.engines / (times * c.block_m * c.block_n * c.block_k)


def _residuals(constants: Constants, architecture: str) -> Times:
    """Logarithms of predicted over catalogued clocks."""
    return np.concatenate(
        [
            np.log(_clocks(group, find(_DEVICES[of]), constants) / [s.clocks_per_fma for s in group])
            for of, group in catalogue()
            if of == architecture
        ]
    )


def _fit(architecture: str) -> Constants:
    """Constants that fit the catalogue of one architecture, one changed at a time."""
    best = _THEIR_CODE
    loss = float(np.abs(_residuals(best, architecture)).mean())
    for _, name, factor in product(range(_ROUNDS), _FITTED, _FACTORS):
        tried = replace(best, **{name: getattr(best, name) * factor})
        if (found := float(np.abs(_residuals(tried, architecture)).mean())) < loss - 1e-5:
            best, loss = tried, found
    return best


def _catalogue_fits() -> None:
    rows: list[list[object]] = []
    for left_out in _DEVICES:
        for name, constants in (
            ("fitted on both", _THEIR_CODE),
            ("of the other", _fit(next(other for other in _DEVICES if other != left_out))),
        ):
            errors = _residuals(constants, left_out)
            scaled = np.abs(errors - np.median(errors))
            rows.append(
                [
                    left_out,
                    len(errors),
                    name,
                    *(round(getattr(constants, n)) for n in _FITTED),
                    *(f"{np.expm1(q):.0%}" for q in (np.median(scaled), np.quantile(scaled, 0.9))),
                    f"{np.exp(np.median(errors)):.2f}",
                ]
            )
    _table(
        "Strategies of oneDNN's catalogue: clocks in steady state",
        ("judged on", "strategies", "constants", *_FITTED, "median error", "90 %", "scale"),
        rows,
    )


# Ranking at a fixed shape


def _by_model(pairs: Sequence[tuple[GemmProblem, KernelConfig]], spec: DeviceSpec) -> Times:
    return predict_many(pairs[0][0], columns_of([c for _, c in pairs]), spec).time_us


def _by_clocks(constants: Constants) -> Ranker:
    """Clocks of a core with constants of another architecture: what the catalogue states, without memory."""

    def ranked(pairs: Sequence[tuple[GemmProblem, KernelConfig]], spec: DeviceSpec) -> Times:
        return _clocks([Strategy(problem, config, 0.0) for problem, config in pairs], spec, constants)

    return ranked


def _by_roofline(pairs: Sequence[tuple[GemmProblem, KernelConfig]], spec: DeviceSpec) -> Times:
    return np.array([roofline.predict(p, c, spec).time_us for p, c in pairs])


def _by_heuristic(pairs: Sequence[tuple[GemmProblem, KernelConfig]], spec: DeviceSpec) -> Times:
    """What the heuristic's default has least of."""
    clocks = [core_clocks(p, c, gpu_rates(check_problem(p, spec))) for p, c in pairs]
    return np.array([c.dpas + c.l1 + c.l2 for c in clocks])


def _judged(
    model: Ranker, groups: Sequence[tuple[DeviceSpec, list[tuple[GemmProblem, KernelConfig]], Times]]
) -> list[list[object]]:
    """For each way to rank: pairs ordered right, and how much slower the first choice is than the best."""
    rows: list[list[object]] = []
    rankers = {"model": model, "roofline": _by_roofline, "heuristic": _by_heuristic}
    for name, ranker in rankers.items():
        right, count, regrets = 0.0, 0, list[float]()
        for spec, pairs, measured in groups:
            ranked = ranker(pairs, spec)
            first = measured[np.isclose(ranked, ranked.min(), rtol=1e-6)].mean()
            regrets.append(float(first / measured.min() - 1))
            for i, j in combinations(range(len(measured)), 2):
                if abs(np.log(measured[i] / measured[j])) > _TIE:
                    same = np.isclose(ranked[i], ranked[j], rtol=1e-6)
                    right += 0.5 if same else float((ranked[i] < ranked[j]) == (measured[i] < measured[j]))
                    count += 1
        rows.append([name, f"{right / count:.0%} of {count}", f"{np.mean(regrets):.0%}", f"{max(regrets):.0%}"])
    regrets = [float(np.mean(measured) / measured.min() - 1) for _, _, measured in groups]
    return [*rows, ["random", "50%", f"{np.mean(regrets):.0%}", f"{max(regrets):.0%}"]]


def _ranking(rows: list[Row]) -> None:
    columns = ("ranked by", "pairs ordered right (ties half)", "regret of the first choice, mean", "worst")
    for architecture in _DEVICES:
        groups = [
            (find(_DEVICES[of]), [(s.problem, s.config) for s in group], np.array([s.clocks_per_fma for s in group]))
            for of, group in catalogue()
            if of == architecture
        ]
        ranker = _by_clocks(_fit(next(other for other in _DEVICES if other != architecture)))
        _table(f"Ranking: catalogue of {architecture}, {len(groups)} kinds of GEMM", columns, _judged(ranker, groups))
    measured = [
        (find(device), [(r.problem, r.config) for r in of if r.config is not None], np.array([r.time_us for r in of]))
        for (device, _), of in _by_shape(rows).items()
        if len(of) > 1
    ]
    _table(f"Ranking: measured, {len(measured)} shapes", columns, _judged(_by_model, measured))


def _by_shape(rows: list[Row]) -> dict[tuple[str, GemmProblem], list[Row]]:
    shapes: dict[tuple[str, GemmProblem], list[Row]] = {}
    for row in rows:
        shapes.setdefault((row.device, row.problem), []).append(row)
    return shapes


# Cliffs


def _cliffs(rows: list[Row]) -> None:
    def row(device: str, *words: str) -> Row:
        return next(r for r in rows if r.device == device and all(word in r.what for word in words))

    def ratio(slow: Row, fast: Row) -> tuple[str, str]:
        predicted = [_one(r.problem, r.config, find(r.device)) for r in (slow, fast) if r.config is not None]
        return f"{slow.time_us / fast.time_us:.2f}", f"{predicted[0] / predicted[1]:.2f}"

    none, one, three = (row("b580", f"prefetch{d}", "load32x32") for d in (0, 1, 3))
    plain, grouped = row("max1550", "without group"), row("max1550", "with group")
    best, spilled = row("b60", "BM128"), row("b60", "spill (worst")
    square = GemmProblem(4096, 4096, 4096)
    spills = [_one(square, _tile(square, m, 256, 8, 4), find("b580")) for m in (512, 256)]
    _table(
        "Cliffs: the slower time over the faster",
        ("what", "measured", "predicted", "a constant is fitted on it"),
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
    """How much slower the default of a large square is than the best tile, over shapes that are used."""
    spec, square, worst = find("b580"), GemmProblem(4096, 4096, 4096), 0.0
    config = default_config(square, spec)
    for m, n, k in ((1, 4096, 14336), (8, 4096, 4096), (256, 256, 8192), (64, 64, 65536), (4096, 16, 4096)):
        problem = GemmProblem(m, n, k)
        groups = Extent(ceil_div(m, config.matmul.block.m), ceil_div(n, config.matmul.block.n), 1)
        taken = replace(config, matmul=replace(config.matmul, threads=groups))
        worst = max(worst, _one(problem, taken, spec) / _best(problem, spec))
    return worst


# Times


def _times(rows: list[Row]) -> None:
    """Predicted over measured times; the scale of a device is that of the others."""
    ratios = [_one(r.problem, r.config, find(r.device)) / r.time_us for r in rows if r.config is not None]
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
    headings = ("predicted over measured", "after the scale of other devices", "fitted on it")
    _table("Times whose configuration is stated", ("device", "shape", "what", "us", "predicted us", *headings), table)
    judged = np.array(
        [abs(np.log(x / medians[r.device])) for r, x in zip(rows, ratios, strict=True) if not r.fitted], dtype=float
    )
    median_error, most = _percent(judged, 0.5), _percent(judged, 0.9)
    print(f"\nOf {len(judged)} not fitted on: median error {median_error}, 90 % within {most}.")
    inside = sum(1 / CONSTANTS.interval < ratio < CONSTANTS.interval for ratio in ratios)
    print(f"The narrowest interval, a factor of {CONSTANTS.interval}, holds {inside} of {len(ratios)} times.")


def _percent(errors: Times, quantile: float) -> str:
    return f"{np.expm1(np.quantile(errors, quantile)):.0%}"


def _shapes(folder: Path, every: int) -> None:
    table: list[list[object]] = []
    for title, (device, rows) in best_of_shapes(folder).items():
        spec, taken = find(device), rows[:: every if len(rows) > 1000 else 1]
        measured = np.array([r.time_us for r in taken])
        for name, best in (("model", _best), ("roofline", _best_by_roofline)):
            predicted = np.array([best(r.problem, spec) for r in taken])
            errors = np.log(predicted / measured)
            scaled = np.abs(errors - np.median(errors))
            quantiles = _percent(scaled, 0.5), _percent(scaled, 0.9)
            inside = f"{np.mean(np.abs(errors) < np.log(CONSTANTS.interval)):.0%}"
            table.append(
                [
                    title,
                    len(taken),
                    name,
                    *quantiles,
                    float(np.exp(np.median(errors))),
                    inside,
                    _spearman(predicted, measured),
                ]
            )
    columns = ("table", "shapes", "by", "median error after one scale", "90 %", "scale", "in the interval", "Spearman")
    _table("Best time of each shape, configurations not stated", columns, table)


def _spearman(a: Times, b: Times) -> str:
    first, second = (np.argsort(np.argsort(x)) for x in (a, b))
    return f"{np.corrcoef(first, second)[0, 1]:.3f}"


def _speed() -> None:
    spec, problem = find("b580"), GemmProblem(4096, 4096, 4096)
    begin = time.perf_counter()
    space = xe_space(problem, spec)
    made = time.perf_counter()
    columns = columns_of_space(problem, space)
    read = time.perf_counter()
    predict_many(problem, columns, spec)
    ranked = time.perf_counter()
    _table(
        "Speed, one core",
        ("configurations", "space s", "columns s", "predicted s", "predicted in a second"),
        [[len(space), made - begin, read - made, ranked - read, f"{len(space) / (ranked - made):,.0f}"]],
    )


# Configurations for shapes


def _one(problem: GemmProblem, config: KernelConfig | None, spec: DeviceSpec) -> float:
    assert config is not None
    return float(predict_many(problem, columns_of([config]), spec).time_us[0])


def _tile(problem: GemmProblem, m: int, n: int, rows: int, columns: int) -> KernelConfig:
    groups = Extent(ceil_div(problem.m, m), ceil_div(problem.n, n), 1)
    load = Extent(min(32, m // rows), min(32, n // columns), 32)
    return KernelConfig(
        MatmulConfig(groups, Extent(m, n, 32), load, LoopOrder.M_OUTER),
        XeStrategy((rows, columns), Prefetch(PrefetchLevels.L1, 3)),
    )


_TILES = tuple(
    (sg_m * rows, sg_n * columns, rows, columns)
    for sg_m, sg_n, rows, columns in product((8, 16, 32), (16, 32, 64), (1, 2, 4, 8), (1, 2, 4, 8))
    if 4 <= rows * columns <= 32
)


def _best(problem: GemmProblem, spec: DeviceSpec) -> float:
    """The time of the best of common tiles, with and without a split of K."""
    choices = list(product(_TILES, (1, 4), (1, 2, 4, 8)))
    tiles = np.array([tile for tile, _, _ in choices])
    m, n, rows, columns = tiles.T
    splits = np.array([s for _, _, s in choices])
    axes = {
        "block_m": m,
        "block_n": n,
        "block_k": np.full(len(m), 32),
        "sg_rows": rows,
        "sg_columns": columns,
        "load_m": np.minimum(32, m // rows),
        "load_n": np.minimum(32, n // columns),
        "load_k": np.full(len(m), 32),
        "grf": np.full(len(m), 256),
        "prefetch": np.full(len(m), 3),
        "raster_group": np.array([g for _, g, _ in choices]),
        "splits": splits,
        "split_k": np.where(splits > 1, SplitK.PARTIAL_SUMS.value, SplitK.NONE.value),
    }
    return float(predict_many(problem, columns_of_axes(problem, axes), spec).time_us.min())


def _best_by_roofline(problem: GemmProblem, spec: DeviceSpec) -> float:
    return min(roofline.predict(problem, _tile(problem, *tile), spec).time_us for tile in _TILES[::4])


if __name__ == "__main__":
    main()
