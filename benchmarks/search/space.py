"""Sizes of spaces, and the time to build them and to propose in them.

Run: python -m benchmarks.search.space [--device b580] [--proposals 30]
"""

import argparse
import time

from codegen import DType, GemmProblem
from hal import find
from tuner.search.method import Method
from tuner.search.samplers.build import build_search
from tuner.space.xe.heuristic import default_config
from tuner.space.xe.space import xe_space

PROBLEMS = (
    GemmProblem(4096, 4096, 4096),
    GemmProblem(1, 4096, 4096, dtype_a=DType.S8, dtype_b=DType.S8, transpose_b=True),
    GemmProblem(96, 160, 80),
    GemmProblem(515, 333, 1027, dtype_a=DType.F32, dtype_b=DType.F32),
    GemmProblem(1000, 1016, 520, batch=8, dtype_a=DType.TF32, dtype_b=DType.TF32, transpose_a=True),
    GemmProblem(64, 64, 65536),
)


def main() -> None:
    """Print a line for each problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="b580")
    parser.add_argument("--proposals", type=int, default=30)
    options = parser.parse_args()
    spec = find(options.device)
    print(f"{'points':>8} {'axes':>5} {'build s':>8} {'cpu s':>6} {'propose ms':>11}  problem, default for {spec.name}")
    for problem in PROBLEMS:
        begun, begun_cpu = time.perf_counter(), time.process_time()
        space = xe_space(problem, spec)
        build_s, cpu_s = time.perf_counter() - begun, time.process_time() - begun_cpu
        search, begun = build_search(Method.PORTFOLIO, space, 0), time.perf_counter()
        for number in range(options.proposals):
            proposal = search.ask()
            if proposal is not None:
                search.tell(proposal.config, 10.0 + number)
        propose_ms = (time.perf_counter() - begun) / options.proposals * 1e3
        chosen = sum(len(axis.values) > 1 for axis in space.axes)
        print(f"{len(space):8} {chosen:5} {build_s:8.2f} {cpu_s:6.2f} {propose_ms:11.1f}  {problem}")
        print(f"{'':43}{default_config(problem, spec)}")


if __name__ == "__main__":
    main()
