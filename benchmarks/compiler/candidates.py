"""Compile throughput: candidates per second of the compile workers, time of one compilation, and memory of a worker.

On a machine with other work compare CPU times; that of a fixed loop states the speed of the machine.

Run: python -m benchmarks.compiler.candidates [--count 300] [--workers 2] [--device b580] [--seed 0]
"""

import argparse
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator

import psutil

from benchmarks.compiler.processor_time import cpu_ms, loop_text
from codegen import Activation, Axis, DType, EpilogueKind, EpilogueStep, Gate, GemmProblem, XeConfig
from codegen.artifact.kernel_artifact import AnyArtifact
from codegen.pipeline import compile_gemm
from codegen.problem.quantization import Quantization
from codegen.workers.gc_policy import collect_between
from codegen.workers.pool import CompilePool
from codegen.xe.spirv import start_emitter
from hal import DeviceSpec
from hal.facts.xe import find
from tuner.space.xe.space import xe_space

_TIME_LIMIT_S = 60.0
_MIB = 2**20
_REPORTED = (1, 50, 200, 500, 1000)

Candidate = tuple[str, GemmProblem, XeConfig]

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
    "f32": GemmProblem(512, 640, 384, dtype_a=DType.F32, dtype_b=DType.F32),
    "gate": GemmProblem(384, 1024, 512, dtype_a=DType.BF16, dtype_b=DType.BF16, gate=Gate(Activation.SILU)),
    "experts": GemmProblem(512, 768, 640, dtype_a=DType.BF16, dtype_b=DType.BF16, experts=8),
    "u4": GemmProblem(256, 1536, 1024, dtype_b=DType.U4, quantization=Quantization(64, zeros=True)),
    "mxfp4 NT": GemmProblem(
        512,
        1024,
        768,
        dtype_a=DType.BF16,
        dtype_b=DType.E2M1,
        transpose_b=True,
        quantization=Quantization(32, DType.E8M0),
    ),
}


def main() -> None:
    """Print three tables, in Markdown."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=300)
    arguments.add_argument("--workers", type=int, default=2)
    arguments.add_argument("--device", default="b580")
    arguments.add_argument("--seed", type=int, default=0)
    options = arguments.parse_args()
    spec = find(options.device)
    drawn = list(draw(options.count, options.seed, spec))
    _throughput(drawn, spec, options.workers)
    _one_process(drawn, spec)


def draw(count: int, seed: int, spec: DeviceSpec) -> Iterator[Candidate]:
    """Yield random configurations of the problems' spaces, in turn."""
    rng = random.Random(seed)
    spaces = {name: xe_space(problem, spec) for name, problem in PROBLEMS.items()}
    names = list(PROBLEMS)
    for number in range(count):
        name = names[number % len(names)]
        space = spaces[name]
        yield name, PROBLEMS[name], space.config(rng.randrange(len(space)))


def _throughput(drawn: list[Candidate], spec: DeviceSpec, workers: int) -> None:
    times: dict[str, list[float]] = defaultdict(list)
    with CompilePool(workers, _TIME_LIMIT_S, cache=None) as pool:
        for compilation in [pool.compile(*drawn[i][1:], spec) for i in range(workers)]:
            compilation.result()  # so that workers have started
        begun = time.perf_counter()
        for name, compilation in [(name, pool.compile(problem, config, spec)) for name, problem, config in drawn]:
            times[name].append(_elapsed_ms(compilation.result()))
        seconds = time.perf_counter() - begun
    rate = f"{len(drawn) / seconds:.1f} compiled per second by {workers} workers"
    print(f"Random configurations of {len(PROBLEMS)} kinds of problem for {spec.name}; {rate}.")
    print("Elapsed time of one compilation in milliseconds.\n")
    _print_times(times)


def _elapsed_ms(artifact: AnyArtifact) -> float:
    return sum(stage.elapsed_ms for stage in artifact.stages)


def _print_times(times: dict[str, list[float]]) -> None:
    print("| problem | candidates | median ms | p90 ms | worst ms |\n|---|---:|---:|---:|---:|")
    for name, values in [*times.items(), ("all", [ms for named in times.values() for ms in named])]:
        values.sort()
        p90 = values[int(0.9 * len(values))]
        print(
            f"| {name} | {len(values)} | {statistics.median(values):.0f} | {p90:.0f} | {values[-1]:.0f} |", flush=True
        )


def _one_process(drawn: list[Candidate], spec: DeviceSpec) -> None:
    """Print CPU times and memory of this process, which is set up as a worker and never replaced."""
    emitter = psutil.Process(start_emitter().pid)
    times: dict[str, list[float]] = defaultdict(list)
    memory: list[str] = []
    loop = loop_text()
    for number in range(1, max(_REPORTED) + 1):
        name, problem, config = drawn[number % len(drawn)]
        collect_between()
        begun = cpu_ms(emitter)
        compile_gemm(problem, config, spec)
        if 1 < number < len(drawn) + 2:  # the first loads what the others find
            times[name].append(cpu_ms(emitter) - begun)
        if number in _REPORTED:
            memory.append(f"| {number} | {psutil.Process().memory_info().rss / _MIB:.0f} |")
        if number == len(drawn) + 1:
            print("\nCPU time of one compilation in milliseconds, in a process set up as a worker; ", end="")
            print(f"{loop}.\n")
            _print_times(times)
    print("\n| compilations in one process | resident MiB |\n|---:|---:|", *memory, sep="\n")


if __name__ == "__main__":
    main()
