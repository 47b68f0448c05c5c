"""Spilled registers of default GEMMs over types, layouts, epilogues and GPUs: those that spill, the worst first.

Run: python -m benchmarks.compiler.spills [--rows 4096] [--ocloc PATH] [--processes 1]
"""

import argparse
import sys
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from benchmarks.compiler.fresh_workers import each
from benchmarks.compiler.isa import chosen_ocloc
from codegen import CodegenError, DType, GemmProblem, compile_gemm
from codegen.problem.epilogue_text import parse_epilogue
from codegen.target import target_of
from codegen.xe.isa import Ocloc, compile_kernel
from hal import find
from tuner.space.xe.heuristic import default_config

_SIZE = 4096
_DTYPES = (DType.F16, DType.BF16, DType.TF32, DType.S8, DType.F32)
_LAYOUTS = {"NN": (False, False), "NT": (False, True), "TN": (True, False)}
_EPILOGUES = ("", "alpha=0.5, beta=2, bias:column, relu")
_DEVICES = ("b580", "max1550", "a770", "arrow-lake-h", "meteor-lake-h")


@dataclass(frozen=True, slots=True)
class Cell:
    """A GEMM of the grid."""

    rows: int
    device: str
    dtype: DType
    layout: str
    epilogue: str

    def __str__(self) -> str:
        text = f"{self.device} {self.dtype.value} {self.layout}"
        return f"{text} {self.epilogue}" if self.epilogue else text


def grid(rows: int) -> tuple[Cell, ...]:
    """Return the GEMMs of a number of rows."""
    return tuple(Cell(rows, *cell) for cell in product(_DEVICES, _DTYPES, _LAYOUTS, _EPILOGUES))


def main() -> None:
    """Compile the grid; print each GEMM that spills or is refused, and how many do not spill."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--ocloc", type=Path, help="Intel's offline compiler (default: the one installed)")
    arguments.add_argument("--processes", type=int, default=1)
    arguments.add_argument("--rows", type=int, default=_SIZE, help="M; N and K are 4096")
    options = arguments.parse_args()
    ocloc = chosen_ocloc(options.ocloc)
    if ocloc is None:
        sys.exit("Intel's offline compiler is not here: run `xetune toolchain install`, or give --ocloc")
    cells = grid(options.rows)
    found = list(zip(cells, each(partial(spilled, ocloc), cells, options.processes), strict=True))
    for cell, result in found:
        if isinstance(result, str):
            print(f"{cell}: {result}")
    numbers = sorted(((n, str(cell)) for cell, n in found if isinstance(n, int)), reverse=True)
    for nbytes, cell in numbers:
        if nbytes:
            print(f"{nbytes:6,} {cell}")
    print(f"{len(numbers)} of {len(cells)} compiled, {sum(not nbytes for nbytes, _ in numbers)} without a spill")


def spilled(ocloc: Ocloc, cell: Cell) -> int | str:
    """Return the bytes that a thread of the default kernel spills, or why there is no kernel."""
    spec, (transpose_a, transpose_b) = find(cell.device), _LAYOUTS[cell.layout]
    try:
        problem = GemmProblem(
            cell.rows,
            _SIZE,
            _SIZE,
            dtype_a=cell.dtype,
            dtype_b=cell.dtype,
            transpose_a=transpose_a,
            transpose_b=transpose_b,
            epilogue=parse_epilogue(cell.epilogue),
        )
        artifact = compile_gemm(problem, default_config(problem, spec), spec)
        return compile_kernel(ocloc, artifact, target_of(spec)).spill_bytes
    except CodegenError as error:
        return str(error)


if __name__ == "__main__":
    main()
