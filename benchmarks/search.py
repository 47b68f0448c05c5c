"""Replays the search on a recorded, complete space: prints the fraction of the optimum after N evaluations.

Usage: python benchmarks/search.py RECORDED.csv.gz [--runs 3] [--evaluations 200]
"""

import argparse
import csv
import gzip
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tuner.search.optuna import OptunaProposer
from tuner.space import Axis, Space, Value

Point = tuple[Value, ...]
MARKS = (10, 20, 50, 100, 200)
_NOT_AXES = {"time_ms", "compile_ms", "benchmark_ms"}


def recorded_space(path: Path) -> tuple[Space[Point], dict[Point, float]]:
    """The legal points of a recorded space, and the time of each in ms."""
    with gzip.open(path, "rt") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name not in _NOT_AXES and len({row[name] for row in rows}) > 1]
    axes = tuple(Axis(name, tuple(sorted({int(row[name]) for row in rows}))) for name in names)
    times: dict[Point, float] = {tuple(int(row[name]) for name in names): float(row["time_ms"]) for row in rows}
    points = [[axis.values.index(value) for axis, value in zip(axes, point, strict=True)] for point in times]
    return Space(axes, np.array(points, dtype=np.int16), lambda p: p, lambda p: p), times


def tpe_curve(space: Space[Point], times: dict[Point, float], seed: int, evaluations: int) -> list[float]:
    """Best time after each evaluation of the proposer."""
    proposer = OptunaProposer(space, seed)
    found: list[float] = []
    while len(found) < evaluations and (point := proposer.propose()) is not None:
        proposer.tell(point, times[point])
        found.append(times[point])
    return list(np.minimum.accumulate(found))


def random_curve(space: Space[Point], times: dict[Point, float], seed: int, evaluations: int) -> list[float]:
    """Best time after each of distinct random draws."""
    rows = np.random.default_rng(seed).permutation(len(space))[:evaluations]
    return list(np.minimum.accumulate([times[space.config(int(row))] for row in rows]))


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recorded", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--evaluations", type=int, default=200)
    options = parser.parse_args()
    space, times = recorded_space(options.recorded)
    optimum = min(times.values())
    marks = [mark for mark in MARKS if mark <= options.evaluations]
    print(f"{len(space)} configurations, optimum {optimum:.3f} ms, {options.runs} runs")
    print("proposer".ljust(12), *(f"{mark:>7}" for mark in marks), "  s/run")
    curves: tuple[tuple[str, Callable[..., list[float]]], ...] = (("random", random_curve), ("tpe+repair", tpe_curve))
    for name, curve in curves:
        begun = time.perf_counter()
        runs = [curve(space, times, seed, options.evaluations) for seed in range(options.runs)]
        seconds = (time.perf_counter() - begun) / options.runs
        fractions = [statistics.mean(optimum / run[mark - 1] for run in runs) for mark in marks]
        print(name.ljust(12), *(f"{fraction:7.3f}" for fraction in fractions), f"{seconds:7.1f}")


if __name__ == "__main__":
    main()
