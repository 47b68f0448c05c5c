"""Code as the model of Xe GPUs predicts it, against that of Intel's offline compiler, for drawn configurations.

Run: python -m benchmarks.model.code [--count 100] [--seed 0] [--ocloc PATH]
"""

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.compiler.isa import chosen_ocloc
from codegen import (
    CodegenError,
    DType,
    Extent,
    GemmProblem,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    SlmOperands,
    XeConfig,
    XeStrategy,
    compile_gemm,
)
from codegen.target import target_of
from codegen.xe.isa import (
    IsaReport,
    Ocloc,
    compile_kernel,
)
from codegen.xe.rules import (
    ceil_div,
    check_problem,
    refusal,
)
from hal import DeviceSpec, find
from tuner.model.xe import columns_of
from tuner.model.xe.device import case_of
from tuner.model.xe.fetch import fetch_of
from tuner.model.xe.registers import spilled_registers
from tuner.model.xe.work import work_of

_SIZE = 4096
_DPAS_ROWS, _DPAS_COLUMNS = 8, 16
_MANY = 20  # registers
_ODDS = (True, False, False, False)


@dataclass(frozen=True, slots=True)
class Drawn:
    """One kernel: registers that spilled, and instructions beside DPAS of a K step; predicted and counted."""

    predicted_spill: float
    spill: float
    predicted_instructions: float
    instructions: float | None


def main() -> None:
    """Print how often spills are foreseen, and how far instructions are from those counted."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--ocloc", type=Path, help="Intel's offline compiler (default: the one installed)")
    options = arguments.parse_args()
    ocloc = chosen_ocloc(options.ocloc)
    if ocloc is None:
        sys.exit("Intel's offline compiler is not here: run `xetune toolchain install`, or give --ocloc")
    drawn = list(_compiled(ocloc, random.Random(options.seed), options.count))
    spills, foreseen = np.array([d.spill > 0 for d in drawn]), np.array([d.predicted_spill >= 1 for d in drawn])
    many = np.array([d.spill > _MANY for d in drawn])
    print("| kernels | spills | predicted spills | predicted of those over 20 registers | false positives |")
    print("|---|---|---|---|---|")
    found, wrong = int((spills & foreseen).sum()), int((~spills & foreseen).sum())
    print(f"| {len(drawn)} | {spills.sum()} | {found} | {(many & foreseen).sum()} of {many.sum()} | {wrong} |")
    ratios = [d.predicted_instructions / d.instructions for d in drawn if d.instructions]
    low, middle, high = np.quantile(ratios, (0.1, 0.5, 0.9))
    print(
        "\nInstructions other than DPAS, predicted over counted: "
        f"median {middle:.2f}, 80 % from {low:.2f} to {high:.2f}."
    )


def _problems() -> list[GemmProblem]:
    square = partial(GemmProblem, _SIZE, _SIZE, _SIZE)
    typed = [square(dtype_a=t, dtype_b=t) for t in (DType.BF16, DType.S8, DType.TF32)]
    return [
        *[square()] * 4,
        *typed,
        square(transpose_a=True),
        square(transpose_b=True),
        GemmProblem(_SIZE - 1, _SIZE - 1, _SIZE - 1),
    ]


def _compiled(ocloc: Ocloc, rng: random.Random, count: int) -> Iterator[Drawn]:
    problems, devices = _problems(), [find(name) for name in ("b580", "b580", "max1550")]
    for _ in range(count):
        problem, spec = rng.choice(problems), rng.choice(devices)
        config = _drawn(problem, spec, rng)
        try:
            code = compile_kernel(ocloc, compile_gemm(problem, config, spec), target_of(spec))
        except CodegenError as error:
            print(f"{problem}, {config}: {error}", file=sys.stderr)
            continue
        yield _judged(problem, config, spec, next(r for r in code.reports if r.k_loop is not None))


def _judged(problem: GemmProblem, config: XeConfig, spec: DeviceSpec, report: IsaReport) -> Drawn:
    on, columns = case_of(problem, spec), columns_of([config])
    fetch = fetch_of(on, columns, work_of(on, columns))
    loop = report.k_loop
    assert loop is not None  # the one that was asked for
    a_step = config.sg_m / _DPAS_ROWS * config.sg_n / _DPAS_COLUMNS * config.matmul.block.k / on.dpas_k
    counted = (loop.moves + loop.sends.total) * a_step / loop.dpas if not report.spill_bytes else None
    spilled = float(spilled_registers(on, columns)[0])
    return Drawn(spilled, report.spill_bytes / on.register_bytes, float(fetch.instructions[0]), counted)


def _drawn(problem: GemmProblem, spec: DeviceSpec, rng: random.Random) -> XeConfig:
    """A legal configuration."""
    on = check_problem(problem, spec)
    pick = rng.choice
    while True:
        rows, columns, depth = pick((1, 2, 4, 8)), pick((1, 2, 4, 8)), on.dpas_k * pick((1, 2, 2, 4))
        block = Extent(pick((8, 16, 32, 64)) * rows, pick((16, 32, 64, 128)) * columns, depth)
        load = Extent(pick((8, 16, 32)), pick((16, 32)), on.dpas_k * pick((1, 2)))
        staged = pick((*SlmOperands, *[SlmOperands.NONE] * 4))
        plain, distance = staged is SlmOperands.NONE, pick((0, 1, 2, 3))
        strategy = XeStrategy(
            (rows, columns),
            Prefetch(PrefetchLevels.L1, distance) if distance else Prefetch(),
            grf_mode=pick((256, 256, 128)),
            slm=staged,
            slm_stages=0 if plain else pick((2, 3)),
            pipelined_registers=plain and pick(_ODDS),
            k_unroll=pick((1, 1, 1, 2, 4)),
        )
        groups = Extent(ceil_div(problem.m, block.m), ceil_div(problem.n, block.n), 1)
        config = XeConfig(MatmulConfig(groups, block, load), strategy)
        if refusal(on, config) is None:
            return config


if __name__ == "__main__":
    main()
