"""Searches with donors compared with searches without, of the same seeds: is any behind, at any number of evaluations?

Run: python -m benchmarks.search.warm --data DIR [--seeds 0 400] [--evaluations 100] [--spaces titan_rtx]
     [--processes 2]

Differences are of the fraction of the optimum, means over seeds with standard errors. With many of them, one in 44 is
behind by two standard errors by chance.
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.search.spaces import NAMES, donors, named
from tuner.replay.recorded import RecordedSpace
from tuner.replay.run import best_so_far, replay
from tuner.search.method import Method
from tuner.search.priors import Priors
from tuner.search.samplers.build import build_search

MARKS = (10, 15, 20, 30, 50, 100)
TRIALS = 200
"""Evaluations that the search expects."""


def main() -> None:
    """Print a table of all pairs of a space and donors, in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 400), metavar=("FIRST", "END"))
    parser.add_argument("--evaluations", type=int, default=100)
    parser.add_argument("--spaces", nargs="+", default=list(NAMES))
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of the processes that are spawned: one core each
    marks, seeds = [mark for mark in MARKS if mark <= options.evaluations], range(*options.seeds)
    print(f"| space, donors | {' | '.join(map(str, marks))} |\n|{'---|' * (len(marks) + 1)}")
    behind = 0
    with ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool:

        def found(name: str, source: str | None) -> NDArray[np.float64]:
            """Fractions of the optimum at the marks, [seeds, marks]."""
            of_seeds = ((options.data, name, source, seed, options.evaluations) for seed in seeds)
            return np.stack(list(pool.map(_found, *zip(*of_seeds, strict=True), chunksize=5)))

        for name in options.spaces:
            cold = found(name, None)
            _print_row(name, [f"{mean:.3f}" for mean in cold.mean(axis=0)])
            for source in NAMES[name]:
                gain = found(name, source) - cold
                mean, error = gain.mean(axis=0), gain.std(axis=0, ddof=1) / len(seeds) ** 0.5
                behind += int((mean < -2 * error).sum())
                _print_row(f"{name}, {source}", [f"{m:+.3f} ({e:.3f})" for m, e in zip(mean, error, strict=True)])
    compared = len(marks) * sum(len(NAMES[name]) for name in options.spaces)
    print(f"\nBehind by two standard errors: {behind} of {compared}, {compared / 44:.1f} expected by chance")


@cache
def _recorded(data: Path, name: str) -> RecordedSpace:
    return named(data, name)


@cache
def _donors(data: Path, name: str, source: str | None) -> tuple[int, ...]:
    return tuple(donors(data, _recorded(data, name), source)) if source is not None else ()


def _found(data: Path, name: str, source: str | None, seed: int, evaluations: int) -> NDArray[np.float64]:
    recorded = _recorded(data, name)
    space, known = recorded.space(), Priors(donors=_donors(data, name, source))
    rows = replay(recorded, space, build_search(Method.PORTFOLIO, space, seed, known, TRIALS), evaluations).rows
    best_us = best_so_far(recorded, rows, evaluations)
    return recorded.best_us / best_us[[mark - 1 for mark in MARKS if mark <= evaluations]]


def _print_row(name: str, cells: list[str]) -> None:
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
