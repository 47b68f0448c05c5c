"""Random legal GEMMs on every axis, compiled and proven: counts of what was drawn and right, and what went wrong.

Run: python -m benchmarks.compiler.random_gemms [--count 3000] [--seed 7] [--processes 2] [--devices b580 pvc]
    [--of-models] [--ocloc PATH]
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.compiler.fresh_workers import each
from benchmarks.compiler.isa import chosen_ocloc
from codegen.config.xe import PrefetchLevels, WorkspaceOperands, XeConfig
from codegen.problem.gemm import GemmProblem
from codegen.xe.isa import Ocloc
from codegen.xe.rules import tiles_of
from tests.codegen.xe.build.draws import DEVICES, Draw, draw
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
    arguments.add_argument("--devices", nargs="+", default=DEVICES, help="GPUs of which each draw takes one")
    arguments.add_argument("--of-models", action="store_true", help="draw weights and experts instead of plain GEMMs")
    arguments.add_argument("--ocloc", type=Path, help="Intel's offline compiler; without one it is not asked")
    options = arguments.parse_args()
    ocloc = None if options.ocloc is None else chosen_ocloc(options.ocloc)
    first = options.seed * _SEEDS
    seeds = range(first + options.first, first + options.count)
    facts, refusals, faults, begun_s = Counter[Fact](), Counter[str](), 0, time.monotonic()
    verdicts: list[tuple[Draw, bool]] = []
    for drawn, verdict in each(
        partial(_judge_seed, ocloc, options.devices, options.of_models), seeds, options.processes
    ):
        facts.update(facts_of(drawn))
        refusals += drawn.refusals
        verdicts.append((drawn, not verdict.fault))
        if verdict.fault:
            faults += 1
            print(f"{drawn}\n    {verdict.fault}", flush=True)
    print(f"{len(seeds)} draws, {faults} with a fault, {time.monotonic() - begun_s:.0f} s")
    _print_counts(facts, refusals)
    print("\n".join(table(verdicts)))
    sys.exit(faults > 0)


def _judge_seed(ocloc: Ocloc | None, devices: Sequence[str], of_models: bool, seed: int) -> tuple[Draw, Verdict]:
    few_rows = of_models and seed % _FEW_ROWS == 0
    drawn = draw(seed, small=seed % _LARGE != 0, devices=devices, few_rows=few_rows, of_models=of_models)
    return drawn, judge(drawn, ocloc)


def _print_counts(facts: Counter[Fact], refusals: Counter[str]) -> None:
    for axis in dict.fromkeys(axis for axis, _ in sorted(facts)):
        values = sorted((count, value) for (of, value), count in facts.items() if of == axis)[::-1]
        print(f"{axis}: {', '.join(f'{value} {count}' for count, value in values)}")
    print(f"refused before, by rule: {', '.join(f'{rule} {count}' for rule, count in refusals.most_common())}")


def table(verdicts: Sequence[tuple[Draw, bool]]) -> Iterator[str]:
    """Yield lines of a table in Markdown: how many kernels for a GPU are right, by types, layout and strategy."""
    devices = sorted({drawn.device for drawn, _ in verdicts})
    drawn_of, right_of = Counter[tuple[Fact, str]](), Counter[tuple[Fact, str]]()
    for drawn, right in verdicts:
        for row in _rows(drawn):
            drawn_of[row, drawn.device] += 1
            right_of[row, drawn.device] += right
    yield f"| | | {' | '.join(devices)} |"
    yield f"|---|---|{'---:|' * len(devices)}"
    for axis, value in sorted({row for row, _ in drawn_of}, key=lambda row: (_AXES.index(row[0]), row[1])):
        keys = [((axis, value), device) for device in devices]
        cells = (f"{right_of[key]} of {drawn_of[key]}" if drawn_of[key] else "" for key in keys)
        yield f"| {axis} | {value} | {' | '.join(cells)} |"


_AXES = ("types", "layout", "strategy")


def _rows(drawn: Draw) -> Iterator[Fact]:
    p = drawn.problem
    b = "" if p.dtype_b is p.dtype_a else f" by {p.dtype_b.value}"
    yield "types", f"{p.dtype_a.value}{b}"
    yield "layout", f"{'T' if p.transpose_a else 'N'}{'T' if p.transpose_b else 'N'}"
    yield from (("strategy", name) for name in _strategies(p, drawn.config))


def _strategies(problem: GemmProblem, config: XeConfig) -> list[str]:
    s, threads = config.strategy, config.matmul.threads
    found = {
        "prefetch": s.prefetch.levels is not PrefetchLevels.NONE,
        "shared local memory": s.slm_stages > 0,
        "split K": threads.k > 1,
        "parts of K in a work-group": s.k_subgroups > 1,
        "some tiles a work-group": (threads.m, threads.n) != tiles_of(problem, config),
        "registers pipelined": s.pipelined_registers,
        "K unrolled": s.k_unroll > 1,
        "workspace": s.workspace is not WorkspaceOperands.NONE,
    }
    return [name for name, used in found.items() if used] or ["none of these"]


if __name__ == "__main__":
    main()
