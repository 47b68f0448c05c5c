"""The table of operations: what parses, verifies, interprets, lowers, computes right numbers, and what IGC accepts.

Run: python -m benchmarks.operations [--ocloc PATH] > docs/operations.md
"""

import argparse
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from codegen import compile_module
from hal.xe import find
from tests.codegen.operations.case import Case
from tests.codegen.operations.catalogue import CASES
from tests.codegen.operations.table import NO, YES, Row, render, row_of

_GPUS = {"bmg": "b580", "pvc": "pvc"}
_OPTIONS = "-ze-opt-large-register-file"
_LIMIT_S = 120


def main() -> None:
    """Judge every case and print the page; what went wrong goes to the error stream."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--ocloc", type=Path, help="Intel's offline compiler")
    options = arguments.parse_args()
    rows: list[Row] = []
    for case in CASES:
        row, faults = row_of(case)
        if options.ocloc is not None:
            row = replace(row, **{gpu: _accepted(case, gpu, options.ocloc) for gpu in _GPUS})
        rows.append(row)
        for fault in faults:
            print(f"{case.name}: {fault}", file=sys.stderr)
    print(render(rows, CASES), end="")


def _accepted(case: Case, gpu: str, ocloc: Path) -> str:
    """Whether Intel's compiler takes a case at each of its levels."""
    spec = find(_GPUS[gpu])
    codes = [
        _compiled(compile_module(source, spec).stage("spirv").data, gpu, ocloc) for source in case.sources.values()
    ]
    return NO if any(codes) else YES


def _compiled(spirv: bytes, gpu: str, ocloc: Path) -> int:
    """The exit status of the compiler."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.spv"
        file.write_bytes(spirv)
        asked = [
            "-file",
            file,
            "-spirv_input",
            "-device",
            gpu,
            "-options",
            _OPTIONS,
            "-output",
            "k",
            "-out_dir",
            folder,
        ]
        return subprocess.run([ocloc, "compile", *asked], capture_output=True, timeout=_LIMIT_S, check=False).returncode


if __name__ == "__main__":
    main()
