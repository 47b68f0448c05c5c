"""Random work-group kernels whose layouts stand in different places, in the simulator against the interpreter.

Run: python -m benchmarks.compiler.layout_styles [--first 0] [--count 1000] [--processes 2]
"""

import argparse
import sys
import time
from collections import Counter

from benchmarks.compiler.fresh_workers import each
from codegen.errors import CodegenError
from tests.codegen.xe.fuzz.judge import judge
from tests.codegen.xe.fuzz.layout_styles import draw_layouts

_EQUAL, _REFUSED, _FAULT = "equal", "refused", "fault"
_COLUMNS = ("style", "rounds", "order", "kernel")


def main() -> None:
    """Judge each kernel, print refusals and faults as they are found, and the counts of all combinations at the end."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--first", type=int, default=0, help="the first seed")
    arguments.add_argument("--count", type=int, default=1000)
    arguments.add_argument("--processes", type=int, default=2)
    options = arguments.parse_args()
    seeds = range(options.first, options.first + options.count)
    counts, all_, begun_s = Counter[tuple[tuple[str, ...], str]](), Counter[str](), time.monotonic()
    for seed, (steps, verdict, reason) in zip(seeds, each(_judged, seeds, options.processes), strict=True):
        counts[steps, verdict] += 1
        all_[verdict] += 1
        if verdict != _EQUAL:
            print(f"seed {seed}: {verdict}: {reason}", flush=True)
    for line in _table(counts):
        print(line)
    print(f"{options.count} kernels, {time.monotonic() - begun_s:.0f} s")
    print(", ".join(f"{verdict} {count}" for verdict, count in all_.most_common()))
    sys.exit(all_[_FAULT] > 0)


def _judged(seed: int) -> tuple[tuple[str, ...], str, str]:
    drawn = draw_layouts(seed)
    try:
        refusal = judge(drawn)
    except (CodegenError, AssertionError) as error:
        return drawn.steps, _FAULT, f"{type(error).__name__}: {error}"
    return (drawn.steps, _EQUAL, "") if refusal is None else (drawn.steps, _REFUSED, refusal)


def _table(counts: Counter[tuple[tuple[str, ...], str]]) -> list[str]:
    """Return the rows of a table in Markdown: kernels of each combination by verdict."""
    verdicts = (_EQUAL, _REFUSED, _FAULT)
    rows = [(*_COLUMNS, *verdicts), ("---",) * len(_COLUMNS) + ("---:",) * len(verdicts)]
    for steps in sorted({steps for steps, _ in counts}):
        rows.append((*steps, *(str(counts[steps, verdict]) for verdict in verdicts)))
    return [f"| {' | '.join(row)} |" for row in rows]


if __name__ == "__main__":
    main()
