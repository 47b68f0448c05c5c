"""Time from a problem to SPIR-V in one warm process that is set up as a compile worker, by stage.

Random legal configurations of random problems, and the defaults of plain ones.

The last row is processor time, with that of the forks that emit SPIR-V: other programs of the machine change it least.

Run: python -m benchmarks.compiler.compile [--count 50]
"""

import argparse
import random
import statistics
from collections import defaultdict

import psutil

from benchmarks.compiler.processor_time import cpu_ms, loop_text
from codegen import DType, GemmProblem, Refused, XeConfig
from codegen.workers.gc_policy import collect_between
from codegen.xe.rules import check_problem
from hal import DeviceSpec
from hal.facts.xe import find
from tuner.space.xe.heuristic import default_config
from tuner.space.xe.space import xe_space

_STAGES = {
    "xetile": "build, verify, print",
    "xegpu": "lower, MLIR parses and verifies",
    "subgroup": "work-group to sub-groups",
    "lanes": "sub-group to work-items",
    "llvm": "MLIR's passes, LLVM O2, parameters, wide vectors",
    "spirv": "waiting for another process, which emits, and checking",
}
_TOTAL, _CPU = "total", "total, processor time"


def main() -> None:
    """Compile and print a table, in Markdown."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=50)
    arguments.add_argument("--device", default="b580")
    arguments.add_argument("--seed", type=int, default=0)
    options = arguments.parse_args()
    spec = find(options.device)
    from codegen.xe.spirv import start_emitter

    emitter = psutil.Process(start_emitter().pid)  # as a worker does, while this process is small
    from codegen.pipeline import compile_gemm

    def times_of(drawn: list[tuple[GemmProblem, XeConfig]]) -> dict[str, list[float]]:
        times: dict[str, list[float]] = defaultdict(list)
        for problem, config in drawn:
            collect_between()
            begun_ms = cpu_ms(emitter)
            artifact = compile_gemm(problem, config, spec)
            times[_CPU].append(cpu_ms(emitter) - begun_ms)
            for stage in artifact.stages:
                times[stage.name].append(stage.elapsed_ms)
            times[_TOTAL].append(sum(stage.elapsed_ms for stage in artifact.stages))
        return {name: sorted(values[3:]) for name, values in times.items()}

    random_, plain = (times_of(of(options.count + 3, options.seed, spec)) for of in (draw, draw_plain))
    print(f"One warm process; {options.count} random GEMMs, and as many plain ones, for {spec.name}.")
    print(f"Milliseconds; {loop_text()}.\n\n| stage | random: median | p90 | worst | plain: median | p90 | worst |")
    print("|---|---|---|---|---|---|---|")
    for name in (*_STAGES, _TOTAL, _CPU):
        stage = f"{name}: {_STAGES[name]}" if name in _STAGES else name
        print(f"| {stage} | {_shown(random_[name])} | {_shown(plain[name])} |")


def _shown(values: list[float]) -> str:
    """Return the median, the 90th percentile and the worst of sorted values, as cells of a row."""
    return f"{statistics.median(values):.1f} | {values[int(0.9 * len(values))]:.1f} | {values[-1]:.1f}"


def draw_plain(count: int, seed: int, spec: DeviceSpec) -> list[tuple[GemmProblem, XeConfig]]:
    """Return the defaults of GEMMs of f16 and bf16 without epilogue, whose sizes are multiples of 32 and 64."""
    rng = random.Random(seed)
    drawn: list[tuple[GemmProblem, XeConfig]] = []
    for _ in range(count):
        m, n, k = 32 * rng.randrange(2, 60), 64 * rng.randrange(2, 30), 32 * rng.randrange(2, 60)
        dtype = rng.choice([DType.F16, DType.BF16])
        problem = GemmProblem(m, n, k, dtype_a=dtype, dtype_b=dtype, dtype_c=rng.choice([DType.F32, dtype]))
        drawn.append((problem, default_config(problem, spec)))
    return drawn


def draw(count: int, seed: int, spec: DeviceSpec) -> list[tuple[GemmProblem, XeConfig]]:
    """Return random legal configurations of random problems."""
    rng = random.Random(seed)
    drawn: list[tuple[GemmProblem, XeConfig]] = []
    while len(drawn) < count:
        m, n, k = rng.randrange(1, 2000), 8 * rng.randrange(8, 250), 8 * rng.randrange(8, 250)
        dtype = rng.choice([DType.F16, DType.BF16])
        problem = GemmProblem(m, n, k, dtype_a=dtype, dtype_b=dtype, dtype_c=rng.choice([DType.F32, dtype]))
        try:
            check_problem(problem, spec)
        except Refused:
            continue
        space = xe_space(problem, spec)
        drawn.append((problem, space.config(rng.randrange(len(space)))))
    return drawn


if __name__ == "__main__":
    main()
