"""Replay of searches in recorded, complete spaces: the best found after N evaluations, cold and warm.

Run: python -m benchmarks.search.recorded --data DIR [--repeats 100] [--spaces rtx3090 titan_rtx hard]
     [--methods gp tpe]
     [--library-path SITE [--strategies pso firefly_algorithm]] [--processes 2]

`--data` holds gemm_space_NAME.csv.gz: a column for each axis, and time_ms. Spaces derived from these, and made-up ones,
have names of their own (benchmarks/search/spaces.py). With `--library-path`, a folder with Kernel Tuner installed, its
strategies search the same spaces in the same run. Fractions are of the optimum, means over repeats; P is the mean over
all evaluations of (base - found) / (base - optimum), the base being calculated random draws.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from benchmarks.search import libraries
from benchmarks.search.spaces import NAMES, donors, named
from tuner.replay.recorded import RecordedSpace
from tuner.replay.run import Replay, Score, chance, replay, score
from tuner.search.method import Method
from tuner.search.priors import Priors
from tuner.search.samplers.build import build_search

MARKS = (10, 20, 50, 100, 200)
EVALUATIONS = 200
_METHODS = (Method.PORTFOLIO, Method.GP, Method.TPE, Method.CMAES, Method.NSGA2, Method.RANDOM)


@dataclass(frozen=True, slots=True)
class Case:
    """A search in a space; `warm` is the source of its donors."""

    data: Path
    space: str
    method: str
    warm: str | None = None
    library: Path | None = None


def main() -> None:
    """Print a table of all spaces, in Markdown; progress goes to standard error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--spaces", nargs="+", default=list(NAMES))
    parser.add_argument("--methods", nargs="+", default=[method.value for method in _METHODS])
    parser.add_argument("--library-path", type=Path)
    parser.add_argument("--strategies", nargs="+", choices=libraries.STRATEGIES, help="all, if none is named")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of the processes that are spawned: one core each
    print(f"| space | search | {' | '.join(map(str, MARKS))} | P |\n|{'---|' * (len(MARKS) + 3)}")
    with ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool:
        for name in options.spaces:
            recorded = named(options.data, name)
            cases = [Case(options.data, name, method) for method in options.methods]
            warm = [m for m in (Method.PORTFOLIO, Method.GP, Method.TPE) if m in options.methods]
            cases += [Case(options.data, name, m, donor) for donor in NAMES[name] for m in warm]
            if options.library_path is not None:
                strategies = options.strategies or libraries.STRATEGIES
                cases += [Case(options.data, name, strategy, None, options.library_path) for strategy in strategies]
            _print(recorded, options.repeats)
            for case in cases:
                replays = list(pool.map(_run, [case] * options.repeats, range(options.repeats), chunksize=5))
                _print_line(case, score(recorded, replays, EVALUATIONS))


@cache
def _recorded(data: Path, name: str) -> RecordedSpace:
    return named(data, name)


def _run(case: Case, seed: int) -> Replay:
    recorded = _recorded(case.data, case.space)
    if case.library is not None:
        return libraries.replay_with(case.library, recorded, case.method, EVALUATIONS, seed)
    space = recorded.space()
    known = Priors()
    if case.warm is not None:
        known = Priors(donors=donors(case.data, recorded, case.warm))
    return replay(recorded, space, build_search(case.method, space, seed, known, EVALUATIONS), EVALUATIONS)


def _print(recorded: RecordedSpace, repeats: int) -> None:
    valid = int((recorded.times_us > 0).sum())
    print(f"{recorded.name}: {len(recorded)} configurations, {valid} with a time, {len(recorded.axes)} axes; "
          f"optimum {recorded.best_us / 1e3:.4g} ms; {repeats} repeats", file=sys.stderr)  # fmt: skip
    at_random = chance(recorded, EVALUATIONS).fraction
    _print_row(recorded.name, "random, calculated", [at_random[mark - 1] for mark in MARKS], 0.0)


def _print_line(case: Case, found: Score) -> None:
    name = case.method
    if case.library is not None:
        name = f"Kernel Tuner: {case.method}"
    elif case.warm is not None:
        name = f"{case.method}, warm from {case.warm}"
    _print_row(case.space, name, [found.at(mark) for mark in MARKS], found.p_score)
    asked = sum(found.by.values())
    by = ", ".join(f"{proposer} {count / asked:.0%}" for proposer, count in found.by.most_common())
    print(f"{case.space}, {name}: proposed by {by}", file=sys.stderr, flush=True)


def _print_row(space: str, search: str, fractions: Sequence[float], p_score: float) -> None:
    cells = " | ".join(f"{number:.3f}" for number in (*fractions, p_score))
    print(f"| {space} | {search} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
