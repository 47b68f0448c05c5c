"""Tile registers that multiply parts of elements, compared with vectors, both by their defaults.

Usage: python -m benchmarks.cpu.parts [--shapes small] [--dtypes f32,tf32,f16] [--threads 1,2] [--prepacked]
[--seconds 0.3] [--repeat 5]

Prints the time of vectors over that of tile registers. Needs a CPU with AMX and AVX-512 BF16.
"""

import argparse
import statistics

from benchmarks.cpu.buffers import operands
from benchmarks.cpu.cases import Case, cases
from benchmarks.cpu.our_kernels import Kernels, spec_of_threads
from benchmarks.cpu.timing import measure
from codegen import Isa
from tuner.measure.measure import timing_for
from tuner.space.cpu.heuristic import default_cpu_config

_WAYS = Isa.AVX512, Isa.AMX


def _times_us(case: Case, threads: int, options: argparse.Namespace) -> list[float]:
    """Median times by vectors and by tile registers; packing is included unless B is packed before."""
    spec = spec_of_threads(threads)
    sets = operands(case, timing_for(spec, None).rotate_bytes)
    kernels = Kernels(spec)
    try:
        contenders = {
            isa.value: kernels.contender(
                case.problem, default_cpu_config(case.problem, spec, isa=isa, beforehand=options.prepacked), sets
            )
            for isa in _WAYS
        }
        measured = measure(contenders, len(sets), options.seconds, options.repeat, threads, 0)
    finally:
        kernels.close()
    return [measured.times[isa.value].median_us for isa in _WAYS]


def main() -> None:
    """Measure each case and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", default="small", help="small, llm, ragged, all, MxNxK, or MxNxKt for B [N, K]")
    parser.add_argument("--dtypes", default="f32,tf32,f16")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--prepacked", action="store_true", help="B is packed before")
    parser.add_argument("--seconds", type=float, default=0.3, help="of each cell's rounds, at least")
    parser.add_argument("--repeat", type=int, default=5, help="rounds of each cell, at least")
    options = parser.parse_args()
    print("| problem | threads | vectors us | tile registers us | vectors / tile registers |\n|---|" + "---:|" * 4)
    ratios: dict[tuple[str, int], list[float]] = {}
    for threads in map(int, options.threads.split(",")):
        for case in cases(options.shapes, options.dtypes):
            vectors, tiles = _times_us(case, threads, options)
            ratios.setdefault((case.dtype.value, threads), []).append(vectors / tiles)
            print(f"| {case.name} | {threads} | {vectors:.0f} | {tiles:.0f} | {vectors / tiles:.2f} |", flush=True)
    for (dtype, threads), some in ratios.items():
        mean = statistics.geometric_mean(some)
        print(f"\n{dtype}, {threads} threads: {mean:.2f} ({min(some):.2f} to {max(some):.2f}) over {len(some)}")


if __name__ == "__main__":
    main()
