"""Coverage of GEMMs by Intel's driver without a GPU: each cell compiled, built by the driver, and enqueued.

Run: python -m benchmarks.compiler.driver_coverage [--processes 2] > docs/driver_coverage.md
"""

import argparse

from benchmarks.compiler.fresh_workers import each
from tests.codegen.xe.build.driver_coverage import accept, legal_cases, render


def main() -> None:
    """Print the page."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--processes", type=int, default=2)
    chosen = legal_cases()
    print(render(chosen, list(each(accept, chosen, arguments.parse_args().processes))), end="")


if __name__ == "__main__":
    main()
