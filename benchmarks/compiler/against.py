"""Processor time of compilations by this checkout and another, interleaved: ratios hold on a machine with other work.

A warm process of each checkout, set up as a compile worker, compiles the same kernels in turn. The processes that emit
SPIR-V are not counted.

Run: python -m benchmarks.compiler.against CHECKOUT [--count 60] [--seed 0]
"""

import argparse
import hashlib
import os
import pickle
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_WARM = 3  # kernels of each kind that are compiled before
_ADDITIONS = 1_000_000
_DEVICE = "b580"

Kernel = tuple[str, str, Any, Any]
"""A kind, a device, a problem and a configuration."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Processor time of one compilation in ms, of it that of each stage, and a hash of the SPIR-V."""

    total_ms: float
    stages_ms: dict[str, float]
    digest: str


def main() -> None:
    """Print a table of kinds and one of stages, in Markdown."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("checkout", type=Path)
    arguments.add_argument("--count", type=int, default=60, help="kernels of each kind")
    arguments.add_argument("--seed", type=int, default=0)
    options = arguments.parse_args()
    here = Path(__file__).parents[2]
    times: dict[str, list[tuple[Measured, Measured]]] = defaultdict(list)
    with ExitStack() as stack:
        other, ours = (stack.enter_context(_Worker(root)) for root in (options.checkout.resolve(), here))
        for number, kernel in enumerate(_kernels(options.count + _WARM, options.seed)):
            order = (other, ours) if number % 2 else (ours, other)
            found = {worker: worker.compile(kernel) for worker in order}
            times[kernel[0]].append((found[other], found[ours]))
    _print(times)


def _kernels(count: int, seed: int) -> Iterator[Kernel]:
    from benchmarks.compiler import candidates
    from benchmarks.compiler import compile as plain
    from hal.facts.xe import find
    from tests.codegen.xe.build.draws import draw

    spec = find(_DEVICE)
    yield from (("random problems", _DEVICE, *drawn) for drawn in plain.draw(count, seed, spec))
    yield from (("kinds of problem", _DEVICE, *drawn[1:]) for drawn in candidates.draw(count, seed, spec))
    drawn = map(draw, range(seed, seed + count))
    yield from (("random strategies", one.device, one.problem, one.config) for one in drawn)


class _Worker:
    """Process of a checkout that compiles."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, __file__, "--worker"]
        environment = os.environ | {"PYTHONPATH": str(root)}
        self._process = subprocess.Popen(
            command, cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def compile(self, kernel: Kernel) -> Measured:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump(kernel, self._process.stdin)
        self._process.stdin.flush()
        return Measured(*pickle.load(self._process.stdout))

    def __enter__(self) -> "_Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def _work() -> None:
    """Compile the kernels that standard input asks for until it ends."""
    from codegen.artifact import stages
    from codegen.pipeline import compile_gemm
    from codegen.workers.gc_policy import collect_between
    from codegen.xe.spirv import start_emitter
    from hal.facts.xe import find

    start_emitter()
    stages.time = _ProcessorTime  # stages measure elapsed time
    while True:
        try:
            _, device, problem, config = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        collect_between()
        begun = time.process_time()
        artifact = compile_gemm(problem, config, find(device))
        total_ms = (time.process_time() - begun) * 1e3
        stages_ms = {stage.name: stage.elapsed_ms for stage in artifact.stages}
        spirv = hashlib.sha256(artifact.stages[-1].data).hexdigest()
        sys.stdout.buffer.write(pickle.dumps((total_ms, stages_ms, spirv)))
        sys.stdout.buffer.flush()


class _ProcessorTime:
    perf_counter = staticmethod(time.process_time)


def _print(times: dict[str, list[tuple[Measured, Measured]]]) -> None:
    print(f"A loop of {_ADDITIONS:,} additions takes {min(_loop_ms() for _ in range(5)):.0f} ms.\n")
    print(
        "| kernels | median before, after | p90 | worst | median of ratios | equal SPIR-V |\n|---|---|---|---|---|---|"
    )
    for kind, pairs in times.items():
        kept = pairs[_WARM:]
        both = [sorted(pair[side].total_ms for pair in kept) for side in (0, 1)]
        median, p90, worst = ([f"{of(side):.0f}" for side in both] for of in (statistics.median, _p90, max))
        ratio = statistics.median(after.total_ms / before.total_ms for before, after in kept)
        equal = sum(before.digest == after.digest for before, after in kept)
        numbers = " | ".join(", ".join(pair) for pair in (median, p90, worst))
        print(f"| {kind} | {numbers} | {ratio:.2f} | {equal} of {len(kept)} |")
    print("\n| stage | " + " | ".join(times) + " |\n|---|" + "---|" * len(times))
    for stage in next(iter(times.values()))[0][1].stages_ms:
        cells: list[str] = []
        for pairs in times.values():
            medians = [statistics.median(pair[side].stages_ms[stage] for pair in pairs[_WARM:]) for side in (0, 1)]
            cells.append(", ".join(f"{median:.1f}" for median in medians))
        print(f"| {stage} | {' | '.join(cells)} |")


def _p90(ordered: list[float]) -> float:
    return ordered[int(0.9 * len(ordered))]


def _loop_ms() -> float:
    begun, total = time.process_time(), 0
    for number in range(_ADDITIONS):
        total += number
    return (time.process_time() - begun) * 1e3


if __name__ == "__main__":
    _work() if "--worker" in sys.argv else main()
