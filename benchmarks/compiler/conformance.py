"""The share of upstream's XeGPU tests that its verifier and ours judge alike, as a page.

Run: python -m benchmarks.compiler.conformance PATH/mlir/test > docs/conformance.md
"""

import argparse
from pathlib import Path

from tests.codegen.xe.conformance.page import judge_tree, render


def main() -> None:
    """Judge every piece and print the page."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("tests", type=Path, help="mlir/test of LLVM's sources")
    print(render(judge_tree(arguments.parse_args().tests)), end="")


if __name__ == "__main__":
    main()
