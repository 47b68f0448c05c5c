"""Interleaved timing of contenders on the same buffers."""

import os
import statistics
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

Call = Callable[[int], None]
"""Multiply set number i."""

_SAMPLE_NS = 200_000
_PAUSE_S = 0.02  # until the threads of the contender before have stopped looking for work
_MOST_ROUNDS = 2000
_WIDE = 1.25  # the 90th percentile over the 10th


@dataclass(frozen=True, slots=True)
class Contender:
    """An implementation of the GEMM; `cpus` is where its calling thread must be, if that matters."""

    call: Call
    cpus: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """Microseconds of single calls; of the calling thread's CPU time as well."""

    wall_us: tuple[float, ...]
    cpu_us: tuple[float, ...]

    @property
    def median_us(self) -> float:
        """Median of wall time."""
        return statistics.median(self.wall_us)

    @property
    def median_cpu_us(self) -> float:
        """Median of CPU time."""
        return statistics.median(self.cpu_us)

    def percentile_us(self, percent: int) -> float:
        """A percentile of wall time."""
        ordered = sorted(self.wall_us)
        return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]

    @property
    def spread(self) -> float:
        """The 90th percentile over the 10th."""
        return self.percentile_us(90) / self.percentile_us(10)


@dataclass(frozen=True, slots=True)
class Measured:
    """Times by contender, and how often they were taken again because they were spread widely."""

    times: dict[str, Times]
    again: int


def measure(
    contenders: Mapping[str, Contender], sets: int, seconds: float, rounds: int, threads: int, again: int = 3
) -> Measured:
    """The times of the narrowest run, of one and up to `again` more; a run is as narrow as its widest contender."""
    runs: list[dict[str, Times]] = []
    while len(runs) <= again:
        runs.append(_interleaved(contenders, sets, seconds, rounds, threads))
        if _widest(runs[-1]) <= _WIDE:
            break
    return Measured(min(runs, key=_widest), len(runs) - 1)


def _widest(times: Mapping[str, Times]) -> float:
    return max(each.spread for each in times.values())


def _interleaved(
    contenders: Mapping[str, Contender], sets: int, seconds: float, rounds: int, threads: int
) -> dict[str, Times]:
    wall: dict[str, list[float]] = {name: [] for name in contenders}
    cpu: dict[str, list[float]] = {name: [] for name in contenders}
    counts = {name: _count(contender) for name, contender in contenders.items()}
    begun, at = time.monotonic(), 0
    for number in range(_MOST_ROUNDS):
        if number >= rounds and time.monotonic() - begun > seconds:
            break
        for name, contender in contenders.items():
            if threads > 1:
                time.sleep(_PAUSE_S)
            numbers = [(at + n) % sets for n in range(1 + counts[name])]
            at += len(numbers)
            elapsed, busy = _sample(contender, numbers)
            wall[name].append(elapsed / counts[name] * 1e-3)
            cpu[name].append(busy / counts[name] * 1e-3)
    return {name: Times(tuple(wall[name]), tuple(cpu[name])) for name in contenders}


def _sample(contender: Contender, numbers: Sequence[int]) -> tuple[int, int]:
    """Nanoseconds of wall and of CPU time of calls on sets of these numbers, the first of which is not counted."""
    call = contender.call
    with _running_on(contender.cpus):
        call(numbers[0])
        begun, begun_cpu = time.perf_counter_ns(), time.thread_time_ns()
        for number in numbers[1:]:
            call(number)
        return time.perf_counter_ns() - begun, time.thread_time_ns() - begun_cpu


def _count(contender: Contender) -> int:
    """Number of calls that make a sample long enough for the clock's overhead not to matter."""
    elapsed = min(_sample(contender, (0, 0))[0] for _ in range(3))
    return max(1, -(-_SAMPLE_NS // max(1, elapsed)))


@contextmanager
def _running_on(cpus: tuple[int, ...] | None) -> Generator[None]:
    if cpus is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
