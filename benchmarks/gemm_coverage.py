"""The coverage of GEMMs: types, layouts, epilogues and strategies, each cell compiled and proven or refused by a rule.

Run: python -m benchmarks.gemm_coverage [--processes 2] > docs/coverage.md
"""

import argparse
import sys

from benchmarks.fresh_workers import each
from tests.codegen.gemm.coverage import WRONG, cases, render
from tests.codegen.gemm.judge import cell_of


def main() -> None:
    """Judge every cell and print the page; what went wrong goes to the error stream."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--processes", type=int, default=2)
    processes = arguments.parse_args().processes
    all_cases = list(cases())
    judged = dict(zip((case.key for case in all_cases), each(cell_of, all_cases, processes), strict=True))
    for key, (cell, fault) in judged.items():
        if fault:
            print(f"{key}: {fault}", file=sys.stderr)
            assert cell == WRONG
    print(render({key: cell for key, (cell, _) in judged.items()}, all_cases), end="")


if __name__ == "__main__":
    main()
