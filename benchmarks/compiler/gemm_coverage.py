"""The coverage of GEMMs: types, layouts, epilogues and strategies, each cell compiled and proven or refused by a rule.

Run: python -m benchmarks.compiler.gemm_coverage [--processes 2] > docs/coverage.md
For another GPU: python -m benchmarks.compiler.gemm_coverage --device max1550 prints the cells that differ.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.compiler.fresh_workers import each
from tests.codegen.xe.build.coverage import DEVICE, WRONG, cases, read, render
from tests.codegen.xe.build.judge import cell_of

_PAGE = Path(__file__).parents[2] / "docs/coverage.md"


def main() -> None:
    """Judge every cell and print the page, or what differs from it; what went wrong goes to the error stream."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--processes", type=int, default=2)
    arguments.add_argument("--device", default=DEVICE, help=f"GPU to compile for (default: {DEVICE}, the page's)")
    options = arguments.parse_args()
    device, processes = options.device, options.processes
    all_cases = list(cases(device))
    judged = dict(zip((case.key for case in all_cases), each(cell_of, all_cases, processes), strict=True))
    for key, (cell, fault) in judged.items():
        if fault:
            print(f"{key}: {fault}", file=sys.stderr)
            assert cell == WRONG
    cells = {key: cell for key, (cell, _) in judged.items()}
    if device == DEVICE:
        print(render(cells, all_cases), end="")
        return
    page = read(_PAGE.read_text())
    differing = [key for key in cells if cells[key] != page[key]]
    for key in differing:
        print(f"{', '.join(key)}: {cells[key]} for {device}, {page[key]} for {DEVICE}")
    print(f"{len(cells)} cells for {device}, {len(differing)} differ from those for {DEVICE}")


if __name__ == "__main__":
    main()
