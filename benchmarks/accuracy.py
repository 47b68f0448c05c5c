"""How well times of the CPU target repeat, and how often two kernels 5 % apart are told apart.

Run: python -m benchmarks.accuracy [--jobs 20] [--pairs 40] [--dtype f32] [--seed 0]

One thread. First, one configuration in separate jobs: each has a device process, inputs and buffers of its own, and
measures a reference (the default) before and after. The quiet half are the jobs whose reference was fastest: the result
itself does not choose them. Then pairs of kernels: the default at two lengths of K, 4000 and 4200, so that what they do
differs by 5 %; a pair is ordered as finalists are, in turns with a reference, and how often the shorter one wins is
counted. Which of them comes first changes from pair to pair.
"""

import argparse
import os
from dataclasses import dataclass
from statistics import median

from benchmarks.cpu_ours import spec_of_threads
from codegen import AnyArtifact, DType, GemmProblem
from codegen.target_kind import compile_kernel
from hal import DeviceSpec, open_device, resolve_device
from hal.process import ProcessDevice
from tuner.measure import Bench, Limits, evaluate, median_us
from tuner.native import Unexamined
from tuner.reference import Reference
from tuner.targets import default_for, search_for
from tuner.turns import TimeUs, measure_in_turns

_RUN_S, _TURNS_S = 20.0, 60.0
_JOB = (384, 320, 512)  # M, N, K
_PAIR = ((256, 192, 4000), (256, 192, 4200))  # 5 % apart
_REFERENCE = (256, 192, 3600)


@dataclass(frozen=True, slots=True)
class Ready:
    """A kernel that is compiled: a compilation that has ended."""

    artifact: AnyArtifact

    def result(self) -> AnyArtifact:
        """The kernel."""
        return self.artifact

    def cancel(self) -> None:
        """There is nothing to stop."""


@dataclass(frozen=True, slots=True)
class Job:
    """Medians in microseconds of one job: the reference's mean of before and after, and the configuration's."""

    reference_us: float
    own_us: float


def problem_of(size: tuple[int, int, int], dtype: DType) -> GemmProblem:
    """A plain product."""
    return GemmProblem(*size, dtype_a=dtype, dtype_b=dtype)


def kernels(dtype: DType, spec: DeviceSpec, seed: int) -> tuple[AnyArtifact, AnyArtifact]:
    """The default of the job's problem, and another configuration that a search would try."""
    problem = problem_of(_JOB, dtype)
    proposer = search_for(problem, spec, seed, measured=True).proposer
    default = default_for(problem, spec)
    proposer.skip(default)
    proposal = proposer.propose()
    assert proposal is not None
    return compile_kernel(problem, default, spec), compile_kernel(problem, proposal.config, spec)


def run_job(device: ProcessDevice, spec: DeviceSpec, pair: tuple[AnyArtifact, AnyArtifact], seed: int) -> Job:
    """One job, in a device process of its own.

    Raises:
        RuntimeError: a kernel gave no time.
    """
    try:
        bench = Bench(pair[0].problem, spec, device, Reference(pair[0].problem, seed))
        times: list[float] = []
        for artifact in (pair[0], pair[1], pair[0]):
            outcome, _ = evaluate(bench, Unexamined(Ready(artifact)), Limits(_RUN_S, _RUN_S))
            if outcome.time_us is None:
                raise RuntimeError(f"expected a time, got {outcome.status.value}: {outcome.reason}")
            times.append(outcome.time_us)
        return Job((times[0] + times[2]) / 2, times[1])
    finally:
        device.close()


def spread(values: list[float]) -> str:
    """How far values are apart: all, and the middle half, over their median."""
    ordered, middle = sorted(values), median(values)
    quarter = len(ordered) // 4
    inner = ordered[quarter : len(ordered) - quarter]
    return f"{(ordered[-1] - ordered[0]) / middle:.1%} | {(inner[-1] - inner[0]) / middle:.1%}"


def print_repeats(jobs: list[Job]) -> None:
    """The table of separate jobs."""
    quiet = sorted(jobs, key=lambda job: job.reference_us)[: len(jobs) // 2]
    print("| jobs | figure | median | largest less smallest | of the middle half |")
    print("| --- | --- | ---: | ---: | ---: |")
    for name, some in (("all", jobs), ("quiet half", quiet)):
        own, ratios = [job.own_us for job in some], [job.own_us / job.reference_us for job in some]
        print(f"| {name}, {len(some)} | time | {median(own):.1f} us | {spread(own)} |")
        print(f"| {name}, {len(some)} | time over the reference's | {median(ratios):.3f} | {spread(ratios)} |")


def ordered(device: ProcessDevice, spec: DeviceSpec, dtype: DType, pairs: int, seed: int) -> list[tuple[bool, float]]:
    """Of each pair whether the shorter kernel won, and the longer one's time over its."""

    def timed(size: tuple[int, int, int]) -> TimeUs:
        problem = problem_of(size, dtype)
        artifact = compile_kernel(problem, default_for(problem, spec), spec)
        bench = Bench(problem, spec, device, Reference(problem, seed))
        return lambda left_s: median_us(bench, artifact, min(left_s, _RUN_S))

    reference, *both = (timed(size) for size in (_REFERENCE, *_PAIR))
    found: list[tuple[bool, float]] = []
    for number in range(pairs):
        swapped = number % 2 == 1
        turns = measure_in_turns(reference, both[::-1] if swapped else both, _TURNS_S)
        if turns is None:
            continue
        short, long = turns.ratios[::-1] if swapped else turns.ratios
        if short is not None and long is not None:
            found.append((short < long, long / short))
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--dtype", type=DType, default=DType.F32)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    spec, listed = spec_of_threads(1), resolve_device("cpu")
    print(f"{spec.name}, one thread, {asked.dtype.value}, load {os.getloadavg()[0]:.1f} at the start\n")
    if asked.jobs:
        pair = kernels(asked.dtype, spec, asked.seed)
        jobs = [run_job(open_device(listed), spec, pair, asked.seed + number) for number in range(asked.jobs)]
        print_repeats(jobs)
    if asked.pairs:
        device = open_device(listed)
        try:
            found = ordered(device, spec, asked.dtype, asked.pairs, asked.seed)
        finally:
            device.close()
        right, ratios = sum(won for won, _ in found), [ratio for _, ratio in found]
        print(f"\n{right} of {len(found)} pairs ordered right ({right / len(found):.0%}); the longer one's time over ")
        print(f"the shorter one's: median {median(ratios):.3f}, {min(ratios):.3f} to {max(ratios):.3f}")
    print(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
