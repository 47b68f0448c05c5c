"""How well times of the CPU target repeat, and how often two kernels 5 % apart are told apart.

Run: python -m benchmarks.accuracy [--jobs 20] [--pairs 40] [--dtype f32] [--seed 0] [--here]

One thread. First, one configuration in separate jobs: each has a device process, inputs and buffers of its own, proves
and times it as a trial, and then measures it as a finalist, in turns with a reference (the default), which is what a
job tells in the end. The quiet half are the jobs whose reference was fastest: the result itself does not choose them.

Then pairs of kernels: the default at two lengths of K, whose times differ by about 5 %. A pair is ordered as finalists
are, in turns with a reference, and how often the shorter one wins is counted. Which comes first changes from pair to
pair. With `--here` kernels run in this process, each job with code and memory of its own: a machine that others use is
quietest under `chrt -f 50 taskset -c 0`.
"""

import argparse
import os
from dataclasses import dataclass
from statistics import median

from benchmarks.cpu_ours import spec_of_threads
from codegen import AnyArtifact, DType, GemmProblem
from codegen.target_kind import compile_kernel
from hal import Device, DeviceSpec, open_device, resolve_device
from hal.native.device import NativeDevice
from tuner.measure import Bench, Limits, evaluate, median_us
from tuner.native import Unexamined
from tuner.reference import Reference
from tuner.targets import default_for, search_for
from tuner.turns import TimeUs, measure_in_turns

_RUN_S, _TURNS_S = 20.0, 60.0
_JOB = (384, 320, 512)  # M, N, K
_PAIR = ((256, 192, 4000), (256, 192, 4248))  # by 6 % more to do; as measured, about 5 % longer
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
    """Times in microseconds of one job: of its trial, and in turns at its end, where the reference has one too."""

    trial_us: float
    reference_us: float
    in_turns_us: float


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


def run_job(device: Device, spec: DeviceSpec, pair: tuple[AnyArtifact, AnyArtifact], seed: int) -> Job:
    """One job, on a device that was just opened.

    Raises:
        RuntimeError: a kernel gave no time.
    """
    try:
        bench = Bench(pair[0].problem, spec, device, Reference(pair[0].problem, seed))
        trials = [evaluate(bench, Unexamined(Ready(kernel)), Limits(_RUN_S, _RUN_S))[0] for kernel in pair]
        reference, own = (_timed(bench, kernel) for kernel in pair)
        turns = measure_in_turns(reference, [own], _TURNS_S)
        if trials[1].time_us is None or turns is None or turns.ratios[0] is None:
            raise RuntimeError(
                f"expected times, got {trials[1].status.value}: {trials[1].reason}, and {turns} in turns"
            )
        return Job(trials[1].time_us, turns.reference_us, turns.ratios[0] * turns.reference_us)
    finally:
        device.close()


def _timed(bench: Bench, kernel: AnyArtifact) -> TimeUs:
    return lambda left_s: median_us(bench, kernel, min(left_s, _RUN_S))


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
        figures = {
            "one trial": [job.trial_us for job in some],
            "finalist, in turns": [job.in_turns_us for job in some],
            "over the reference's": [job.in_turns_us / job.reference_us for job in some],
        }
        for figure, values in figures.items():
            unit = "" if figure.startswith("over") else " us"
            print(f"| {name}, {len(some)} | {figure} | {median(values):.4g}{unit} | {spread(values)} |")


def ordered(device: Device, spec: DeviceSpec, dtype: DType, pairs: int, seed: int) -> list[tuple[bool, float]]:
    """Of each pair whether the shorter kernel won, and the longer one's time over its."""

    def timed(size: tuple[int, int, int]) -> TimeUs:
        problem = problem_of(size, dtype)
        artifact = compile_kernel(problem, default_for(problem, spec), spec)
        return _timed(Bench(problem, spec, device, Reference(problem, seed)), artifact)

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
    parser.add_argument("--here", action="store_true")
    asked = parser.parse_args()
    spec, listed = spec_of_threads(1), resolve_device("cpu")

    def opened() -> Device:
        return NativeDevice(spec) if asked.here else open_device(listed)

    print(f"{spec.name}, one thread, {asked.dtype.value}, load {os.getloadavg()[0]:.1f} at the start\n")
    if asked.jobs:
        pair = kernels(asked.dtype, spec, asked.seed)
        jobs = [run_job(opened(), spec, pair, asked.seed + number) for number in range(asked.jobs)]
        print_repeats(jobs)
    if asked.pairs:
        device = opened()
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
