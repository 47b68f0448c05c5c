"""Predicted times of kernels with weights over numbers of rows: for few rows, decoding in registers, decoding first.

Run: python -m benchmarks.model.crossover [--device b580 --device b70] [--weights u4:128:bf16:zero=8] [--verify]
"""

import argparse
import sys
from collections.abc import Iterator

from benchmarks.compiler.isa import chosen_ocloc
from benchmarks.model.printing import print_table
from codegen import DType, GemmProblem, XeConfig, compile_gemm
from codegen.problem.quantization import parse_quantization
from codegen.target import target_of
from codegen.xe.isa import Ocloc, compile_kernel
from codegen.xe.rules import check_problem
from codegen.xe.rules.case import Problem, prepared, worth_preparing
from hal import DeviceSpec, find
from tuner.model.xe import predict
from tuner.model.xe.machine_code import StepClocks, step_clocks
from tuner.space.xe.axes import ranges_of
from tuner.space.xe.few_rows import few_rows_tile
from tuner.space.xe.heuristic import best_tiles, rates_of, with_defaults
from tuner.space.xe.points import config_of
from tuner.verify.verify import verify_by_simulation

_ROWS = (1, 4, 16, 64, 256, 1024, 4096)
_N = _K = 4096
_WAYS = ("few rows", "decoded in registers", "decoded first")


def main() -> None:
    """Print a table for each device; with `--verify` also what each kernel's machine code, or simulation, shows."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--device", action="append", help="GPU to predict for, more than one is fine")
    arguments.add_argument("--weights", default="u4:128:bf16:zero=8", help="type of B, and its quantization")
    arguments.add_argument("--rows", type=int, nargs="*", default=_ROWS)
    arguments.add_argument("--transposed", action="store_true", help="B is stored [N, K]")
    arguments.add_argument("--verify", action="store_true")
    options = arguments.parse_args()
    ocloc = chosen_ocloc(None)
    if ocloc is None:
        sys.exit("Intel's offline compiler is not here: run `xetune toolchain install`")
    weights, _, quantization = options.weights.partition(":")
    for device in options.device or ("b580", "b70"):
        print_table(
            f"{device}: {options.weights}, N {_N}, K {_K}, B {'NT' if options.transposed else 'NN'}; predicted us",
            ("rows", "kernel", "formulas", "machine code of the K loop", "work-group", "verified tiles"),
            _rows_of(find(device), options, ocloc, DType(weights), quantization),
        )


def _rows_of(
    spec: DeviceSpec, options: argparse.Namespace, ocloc: Ocloc, weights: DType, quantization: str
) -> Iterator[tuple[object, ...]]:
    for m in options.rows:
        problem = GemmProblem(
            *(m, _N, _K),
            dtype_a=DType.BF16,
            dtype_b=weights,
            dtype_c=DType.BF16,
            transpose_b=options.transposed,
            quantization=parse_quantization(quantization) if quantization else None,
        )
        for way, config in zip(_WAYS, _configs(check_problem(problem, spec)), strict=True):
            if config is not None:
                yield (m, way, *_judged(problem, config, spec, ocloc, verify=options.verify))


def _configs(on: Problem) -> tuple[XeConfig | None, ...]:
    """Return the kernel for few rows, None where the default has none, and both others."""
    few = few_rows_tile(on, ranges_of(on), rates_of(on)[0])
    first = prepared(on, worth_preparing(on))
    return None if few is None else config_of(on.given, few[0]), _of_many_rows(on), _of_many_rows(first)


def _of_many_rows(on: Problem) -> XeConfig:
    ranges, (rates, _) = ranges_of(on), rates_of(on)
    return config_of(on.given, with_defaults(on, ranges, best_tiles(on, ranges, rates)[:1], rates)[0])


def _judged(
    problem: GemmProblem, config: XeConfig, spec: DeviceSpec, ocloc: Ocloc, *, verify: bool
) -> tuple[object, ...]:
    artifact = compile_gemm(problem, config, spec)
    native = compile_kernel(ocloc, artifact, target_of(spec))
    pipeline = next(report.pipeline for report in native.reports if report.kernel == "gemm")
    by_code = "" if pipeline is None else _us(problem, config, spec, step_clocks(problem, config, spec, pipeline))
    proof = verify_by_simulation(artifact, compiled=native.compiled) if verify else None
    verified = "" if proof is None else f"{proof.checked} of {proof.total}, {proof.kind.value}"
    block, s = config.matmul.block, config.strategy
    layout = f"{block} by {s.sg_layout[0]}x{s.sg_layout[1]}" + (f"x{s.k_subgroups}" if s.k_subgroups > 1 else "")
    return _us(problem, config, spec), by_code, layout, verified


def _us(problem: GemmProblem, config: XeConfig, spec: DeviceSpec, known: StepClocks | None = None) -> str:
    return f"{predict(problem, config, spec, known).time_us:.1f}"


if __name__ == "__main__":
    main()
