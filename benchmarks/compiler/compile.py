"""Time from a problem to SPIR-V in one warm process, by stage.

Run: python -m benchmarks.compiler.compile [--count 50]
"""

import argparse
import random
import statistics
from collections import defaultdict

from codegen import DType, GemmProblem, Refused, XeConfig
from codegen.pipeline import compile_gemm
from codegen.xe.rules import check_problem
from hal import DeviceSpec
from hal.facts.xe import find
from tuner.space.xe.space import xe_space


def main() -> None:
    """Compile random legal configurations of random problems and print medians."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=50)
    arguments.add_argument("--device", default="b580")
    arguments.add_argument("--seed", type=int, default=0)
    options = arguments.parse_args()
    spec = find(options.device)
    times: dict[str, list[float]] = defaultdict(list)
    for problem, config in _draw(options.count + 3, options.seed, spec):
        artifact = compile_gemm(problem, config, spec)
        for stage in artifact.stages:
            times[stage.name].append(stage.elapsed_ms)
        times["total"].append(sum(stage.elapsed_ms for stage in artifact.stages))
    print(f"{'stage':10} {'median':>8} {'p90':>8}   ms, {options.count} configurations, {spec.name}, after 3 warm-ups")
    for name, all_values in times.items():
        values = sorted(all_values[3:])
        print(f"{name:10} {statistics.median(values):8.1f} {values[int(0.9 * len(values))]:8.1f}")


def _draw(count: int, seed: int, spec: DeviceSpec) -> list[tuple[GemmProblem, XeConfig]]:
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
