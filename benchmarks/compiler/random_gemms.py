"""Random legal GEMMs on every axis, compiled and proven: counts of what was drawn, and what went wrong.

Run: python -m benchmarks.compiler.random_gemms [--count 3000] [--seed 7] [--processes 2] [--of-models] [--ocloc PATH]
"""

import argparse
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

from benchmarks.compiler.fresh_workers import each
from benchmarks.compiler.isa import chosen_ocloc
from codegen.xe.isa import Ocloc
from tests.codegen.xe.build.draws import Draw, draw
from tests.codegen.xe.build.facts import Fact, facts_of
from tests.codegen.xe.build.judge import Verdict, judge

_SEEDS = 100_000  # of one --seed
_LARGE = 3  # of so many draws one is not small
_FEW_ROWS = 5  # of so many draws of models one has few rows


def main() -> None:
    """Judge draws, print faults as they are found and the counts at the end; the status tells whether all is right."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=3000)
    arguments.add_argument("--seed", type=int, default=7)
    arguments.add_argument("--first", type=int, default=0, help="draws to leave out")
    arguments.add_argument("--processes", type=int, default=2)
    arguments.add_argument("--of-models", action="store_true", help="draw weights and experts instead of plain GEMMs")
    arguments.add_argument("--ocloc", type=Path, help="Intel's offline compiler; without one it is not asked")
    options = arguments.parse_args()
    ocloc = None if options.ocloc is None else chosen_ocloc(options.ocloc)
    first = options.seed * _SEEDS
    seeds = range(first + options.first, first + options.count)
    facts, refusals, faults, begun_s = Counter[Fact](), Counter[str](), 0, time.monotonic()
    for drawn, verdict in each(partial(_judge_seed, ocloc, options.of_models), seeds, options.processes):
        facts.update(facts_of(drawn))
        refusals += drawn.refusals
        if verdict.fault:
            faults += 1
            print(f"{drawn}\n    {verdict.fault}", flush=True)
    print(f"{len(seeds)} draws, {faults} with a fault, {time.monotonic() - begun_s:.0f} s")
    _print_counts(facts, refusals)
    sys.exit(faults > 0)


def _judge_seed(ocloc: Ocloc | None, of_models: bool, seed: int) -> tuple[Draw, Verdict]:
    few_rows = of_models and seed % _FEW_ROWS == 0
    drawn = draw(seed, small=seed % _LARGE != 0, few_rows=few_rows, of_models=of_models)
    return drawn, judge(drawn, ocloc)


def _print_counts(facts: Counter[Fact], refusals: Counter[str]) -> None:
    for axis in dict.fromkeys(axis for axis, _ in sorted(facts)):
        values = sorted((count, value) for (of, value), count in facts.items() if of == axis)[::-1]
        print(f"{axis}: {', '.join(f'{value} {count}' for count, value in values)}")
    print(f"refused before, by rule: {', '.join(f'{rule} {count}' for rule, count in refusals.most_common())}")


if __name__ == "__main__":
    main()
