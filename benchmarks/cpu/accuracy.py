"""Repeatability of times of the CPU target, and how often two kernels 5 % apart are told apart.

Run: python -m benchmarks.cpu.accuracy [--jobs 20] [--pairs 40] [--candidates 24] [--dtype f32] [--seed 0] [--here]

One thread. First, one configuration in separate jobs: each has a process of its own, compiles its kernels there
without a cache, draws inputs, proves and times the configuration as a trial, and then measures it as a finalist, in
turns with a reference (the default), which is what a job tells in the end. The quiet half are the jobs whose reference
was fastest: the result itself does not choose them.

Then two configurations of one problem: of `--candidates` that are measured interleaved with the default, the two whose
times are nearest to 5 % apart, and how far they are is the median of many windows more. From then on the two are
ordered as finalists are, again and again, and how often the shorter one wins is counted; which comes first changes each
time. With `--here` kernels run in the processes of the jobs themselves: a machine that others use is quietest under
`chrt -f 50 taskset -c 0`.
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from statistics import median

from benchmarks.cpu.our_kernels import spec_of_threads
from codegen import AnyArtifact, DType, GemmProblem, KernelConfig
from codegen.backend import compile_kernel
from hal import Device, DeviceSpec, open_device, resolve_device
from hal.cpu.device import NativeDevice
from tuner.backend import tuning_for
from tuner.measure.interleaved_timing import (
    TimeUs,
    measure_interleaved,
)
from tuner.measure.isa_check import Unexamined
from tuner.measure.measure import (
    Bench,
    Limits,
    evaluate,
    median_us,
)
from tuner.search.problem_search import (
    search_for,
)
from tuner.verify.reference import Reference

_RUN_S, _TURNS_S = 20.0, 60.0
_JOB = (384, 320, 512)  # M, N, K
_PAIR = (256, 192, 4000)  # M, N, K of the pair
_APART = 1.05
_WINDOWS_KNOWN = 9  # interleaved measurements of the difference of the two


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
    """Times in microseconds of one job: of its trial and, interleaved with the reference, at its end."""

    trial_us: float
    reference_us: float
    interleaved_us: float


def problem_of(size: tuple[int, int, int], dtype: DType) -> GemmProblem:
    """A plain product."""
    return GemmProblem(*size, dtype_a=dtype, dtype_b=dtype)


def configs(problem: GemmProblem, spec: DeviceSpec, seed: int, count: int) -> list[KernelConfig]:
    """The default, and other configurations that a search would try."""
    search = search_for(problem, spec, seed, measured=True)
    default = tuning_for(spec).default(problem, spec)
    search.skip(default)
    proposals = (search.ask() for _ in range(count))
    return [default, *(proposal.config for proposal in proposals if proposal is not None)]


def run_alone(dtype: DType, seed: int, number: int, here: bool) -> Job:
    """One job, in a process that has done nothing else: all jobs compile and measure the same two configurations."""
    spec, problem = spec_of_threads(1), problem_of(_JOB, dtype)
    default, other = (compile_kernel(problem, config, spec) for config in configs(problem, spec, seed, 1))
    return run_job(opened(spec, here), spec, (default, other), seed + number)


def opened(spec: DeviceSpec, here: bool) -> Device:
    """The CPU: in this process, or in one of its own."""
    return NativeDevice(spec) if here else open_device(resolve_device("cpu"))


def run_job(device: Device, spec: DeviceSpec, pair: tuple[AnyArtifact, AnyArtifact], seed: int) -> Job:
    """One job, on a device that was just opened.

    Raises:
        RuntimeError: a kernel gave no time.
    """
    try:
        bench = Bench(pair[0].problem, spec, device, Reference(pair[0].problem, seed))
        trials = [evaluate(bench, Unexamined(Ready(kernel)), Limits(_RUN_S, _RUN_S))[0] for kernel in pair]
        reference, own = (_timed(bench, kernel) for kernel in pair)
        turns = measure_interleaved(reference, [own], _TURNS_S)
        if trials[1].time_us is None or turns is None or turns.ratios[0] is None:
            raise RuntimeError(
                f"expected times, got {trials[1].status.value}: {trials[1].reason}, and {turns} interleaved"
            )
        return Job(trials[1].time_us, turns.reference_us, turns.ratios[0] * turns.reference_us)
    finally:
        device.close()


def _timed(bench: Bench, kernel: AnyArtifact) -> TimeUs:
    return lambda left_s: median_us(bench, kernel, Limits(left_s, _RUN_S))


def spread(values: list[float]) -> str:
    """Return the range of all values, and of the middle half, over their median."""
    ordered, middle = sorted(values), median(values)
    quarter = len(ordered) // 4
    inner = ordered[quarter : len(ordered) - quarter]
    return f"{(ordered[-1] - ordered[0]) / middle:.1%} | {(inner[-1] - inner[0]) / middle:.1%}"


def print_repeats(jobs: list[Job]) -> None:
    """Print the table of separate jobs."""
    quiet = sorted(jobs, key=lambda job: job.reference_us)[: len(jobs) // 2]
    print("| jobs | figure | median | range | range of the middle half |")
    print("| --- | --- | ---: | ---: | ---: |")
    for name, some in (("all", jobs), ("quiet half", quiet)):
        figures = {
            "one trial": [job.trial_us for job in some],
            "finalist, interleaved": [job.interleaved_us for job in some],
            "relative to the reference": [job.interleaved_us / job.reference_us for job in some],
        }
        for figure, values in figures.items():
            unit = "" if figure.startswith("relative") else " us"
            print(f"| {name}, {len(some)} | {figure} | {median(values):.4g}{unit} | {spread(values)} |")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two kernels, the faster first, the reference that they are measured with, and the ratio of their times."""

    reference: TimeUs
    short: TimeUs
    long: TimeUs
    apart: float


def find_pair(device: Device, spec: DeviceSpec, dtype: DType, candidates: int, seed: int) -> Pair:
    """Return the two candidates whose times are nearest to 5 % apart.

    Raises:
        RuntimeError: fewer than two candidates gave a time.
    """
    problem = problem_of(_PAIR, dtype)
    bench = Bench(problem, spec, device, Reference(problem, seed))
    reference, *others = (
        _timed(bench, compile_kernel(problem, config, spec)) for config in configs(problem, spec, seed, candidates)
    )
    known = [(ratio, other) for other in others if (ratio := _ratios(reference, [other])[0]) is not None]
    pairs = sorted(
        (abs(slow[0] / fast[0] - _APART), i, j)
        for i, fast in enumerate(known)
        for j, slow in enumerate(known)
        if slow[0] > fast[0]
    )
    found: list[Pair] = []
    for _, i, j in pairs[:3]:
        both = [known[i][1], known[j][1]]
        apart = [b / a for a, b in (_ratios(reference, both) for _ in range(_WINDOWS_KNOWN)) if a and b]
        if apart:
            found.append(Pair(reference, both[0], both[1], median(apart)))
    if not found:
        raise RuntimeError(f"expected two of {candidates} candidates with a time, got {len(known)}: give more")
    return min(found, key=lambda pair: abs(pair.apart - _APART))


def _ratios(reference: TimeUs, others: list[TimeUs]) -> tuple[float | None, ...]:
    turns = measure_interleaved(reference, others, _TURNS_S)
    return (None,) * len(others) if turns is None else turns.ratios


def ordered(pair: Pair, count: int) -> list[tuple[bool, float]]:
    """Measure a pair repeatedly; return whether the faster kernel won, and the slower one's time over its."""
    found: list[tuple[bool, float]] = []
    for number in range(count):
        swapped = number % 2 == 1
        both = [pair.long, pair.short] if swapped else [pair.short, pair.long]
        ratios = _ratios(pair.reference, both)
        short, long = ratios[::-1] if swapped else ratios
        if short is not None and long is not None:
            found.append((short < long, long / short))
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cpu.accuracy", description=__doc__)
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--candidates", type=int, default=24)
    parser.add_argument("--dtype", type=DType, default=DType.F32)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--here", action="store_true")
    asked = parser.parse_args()
    spec = spec_of_threads(1)
    print(f"{spec.name}, load {os.getloadavg()[0]:.1f} at the start: {asked.dtype.value}, one thread\n")
    if asked.jobs:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
            begun = [pool.submit(run_alone, asked.dtype, asked.seed, n, asked.here) for n in range(asked.jobs)]
            print_repeats([job.result() for job in begun])
    if asked.pairs:
        device = opened(spec, asked.here)
        try:
            pair = find_pair(device, spec, asked.dtype, asked.candidates, asked.seed)
            found = ordered(pair, asked.pairs)
        finally:
            device.close()
        right, ratios = sum(won for won, _ in found), [ratio for _, ratio in found]
        m, n, k = _PAIR
        print(
            f"\nTwo configurations of {m}x{n}x{k} that the benchmark measured {pair.apart - 1:.1%} apart were ordered"
        )
        print(f"correctly {right} of {len(found)} times ({right / len(found):.0%}); ", end="")
        print(f"ratios {median(ratios):.3f}, {min(ratios):.3f} to {max(ratios):.3f}.")
    print(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
