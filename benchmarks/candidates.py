"""Candidates that compile workers finish in a second, what one takes, and what memory a worker comes to hold.

Run: python -m benchmarks.candidates [--count 300] [--workers 2] [--device b580] [--seed 0]
"""

import argparse
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator

import psutil

from codegen import Axis, DType, EpilogueKind, EpilogueStep, GemmArtifact, GemmProblem, KernelConfig
from codegen.pipeline import compile_gemm
from codegen.pool import CompilePool
from hal import DeviceSpec
from hal.xe import find
from tuner.xe_space import xe_space

_TIME_LIMIT_S = 60.0
_MIB = 2**20
_REPORTED = (1, 50, 200, 500, 1000)

PROBLEMS = {
    "f16": GemmProblem(4096, 2048, 1024),
    "bf16 NT": GemmProblem(2048, 4096, 1024, dtype_a=DType.BF16, dtype_b=DType.BF16, transpose_b=True),
    "f16 TN": GemmProblem(1024, 512, 2048, transpose_a=True, dtype_c=DType.F16),
    "s8": GemmProblem(512, 1024, 2048, dtype_a=DType.S8, dtype_b=DType.S8),
    "tf32": GemmProblem(768, 1024, 512, dtype_a=DType.TF32, dtype_b=DType.TF32),
    "one row": GemmProblem(1, 4096, 14336),
    "batch, bias, GELU": GemmProblem(
        384,
        640,
        256,
        batch=4,
        epilogue=(EpilogueStep(EpilogueKind.BIAS, axis=Axis.COLUMN), EpilogueStep(EpilogueKind.GELU)),
    ),
    "row sums": GemmProblem(512, 768, 640, epilogue=(EpilogueStep(EpilogueKind.REDUCE, axis=Axis.ROW),)),
    "dynamic": GemmProblem(1024, 1536, 512, dynamic=True),
    "by lanes": GemmProblem(997, 1001, 503),
}


def main() -> None:
    """Print two tables, in Markdown."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=300)
    arguments.add_argument("--workers", type=int, default=2)
    arguments.add_argument("--device", default="b580")
    arguments.add_argument("--seed", type=int, default=0)
    options = arguments.parse_args()
    spec = find(options.device)
    drawn = list(draw(options.count, options.seed, spec))
    _throughput(drawn, spec, options.workers)
    _memory([case[1:] for case in drawn], spec)


def draw(count: int, seed: int, spec: DeviceSpec) -> Iterator[tuple[str, GemmProblem, KernelConfig]]:
    """Random configurations of the problems' spaces, in turn."""
    rng = random.Random(seed)
    spaces = {name: xe_space(problem, spec) for name, problem in PROBLEMS.items()}
    names = list(PROBLEMS)
    for number in range(count):
        name = names[number % len(names)]
        space = spaces[name]
        yield name, PROBLEMS[name], space.config(rng.randrange(len(space)))


def _throughput(drawn: list[tuple[str, GemmProblem, KernelConfig]], spec: DeviceSpec, workers: int) -> None:
    times: dict[str, list[float]] = defaultdict(list)
    with CompilePool(workers, _TIME_LIMIT_S, cache=None) as pool:
        for compilation in [pool.compile(*drawn[i][1:], spec) for i in range(workers)]:
            compilation.result()  # so that workers have started
        begun = time.perf_counter()
        for name, compilation in [(name, pool.compile(problem, config, spec)) for name, problem, config in drawn]:
            times[name].append(_elapsed_ms(compilation.result()))
        seconds = time.perf_counter() - begun
    print(f"{len(drawn)} candidates by {workers} workers: {len(drawn) / seconds:.1f} in a second\n")
    print("| problem | candidates | median ms | p90 ms | worst ms |\n|---|---:|---:|---:|---:|")
    for name, values in [*times.items(), ("all", [ms for named in times.values() for ms in named])]:
        values.sort()
        p90 = values[int(0.9 * len(values))]
        print(f"| {name} | {len(values)} | {statistics.median(values):.0f} | {p90:.0f} | {values[-1]:.0f} |")


def _elapsed_ms(artifact: GemmArtifact) -> float:
    return sum(stage.elapsed_ms for stage in artifact.stages)


def _memory(drawn: list[tuple[GemmProblem, KernelConfig]], spec: DeviceSpec) -> None:
    """In this process, which compiles as a worker does that is not replaced."""
    print("\n| compilations in one process | resident MiB |\n|---:|---:|", flush=True)
    for number in range(1, max(_REPORTED) + 1):
        compile_gemm(*drawn[number % len(drawn)], spec)
        if number in _REPORTED:
            print(f"| {number} | {psutil.Process().memory_info().rss / _MIB:.0f} |", flush=True)


if __name__ == "__main__":
    main()
