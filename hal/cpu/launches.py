"""Launches of a kernel: one between guard pages, whose results are returned, and timed ones on separate memory."""

import math
import resource
import time

from hal.buffer import Buffer
from hal.cpu.memory import (
    SCRATCH_ALIGNMENT,
    Bytes,
    filled,
    guarded,
    rows_of_buffers,
)
from hal.cpu.program import Calls
from hal.device import Argument, LaunchSpec
from hal.errors import DeviceFailed
from hal.opencl.buffers import SCRATCH_POISON

_MAX_BUFFER_SETS = 4096
_SETTLED_S = 0.005  # of launches before timing, so that caches, clocks and pages are in steady state
_TRIES, _TRIED_S = 4, 0.05  # for one sample
_SAMPLE_US = 50.0  # the overhead of reading the clock and calling from Python, half a microsecond, is then 1 %


def run_once(calls: Calls, given: dict[int, Buffer]) -> dict[int, Buffer]:
    """Launch once and return the buffers that the launch wrote."""
    arguments = calls.launch.arguments
    held = [guarded(a.nbytes, _alignment(a, calls.launch)) for a in arguments]
    buffers = {i: filled(memory.bytes, given.get(i), SCRATCH_POISON) for i, memory in enumerate(held)}
    rows = calls.rows([buffers])
    calls.prepare(rows)
    calls.run(rows, 0, 1)
    for argument, memory in zip(arguments, held, strict=True):
        if not memory.intact:
            raise DeviceFailed(f"something was written right before or after argument {argument.name}")
    return {
        i: buffers[i].view(given[i].dtype).reshape(given[i].shape).copy()
        for i, argument in enumerate(arguments)
        if argument.role in ("output", "inout")
    }


def _alignment(argument: Argument, launch: LaunchSpec) -> int:
    return SCRATCH_ALIGNMENT if argument.role == "scratch" else launch.alignment


class TimedLaunches:
    """Timed launches over rotating sets of buffers; each sample has enough launches for the clock's resolution.

    `launches` is the number per sample, `done` the total so far.
    """

    def __init__(self, calls: Calls, given: dict[int, Buffer], rotate_bytes: int) -> None:
        self._calls = calls
        self._sets = _buffer_sets(calls.launch, given, rotate_bytes)
        self._rows = calls.rows(self._sets)
        self._next = 0
        self.launches = 1
        self.done = 0
        calls.prepare(self._rows)
        self._settle()

    def launch_us(self, _number: int) -> float:
        """Return the time of a launch, the mean of `launches` in a row, in microseconds.

        Repeated when a thread was preempted meanwhile; if every try was, the least time counts.
        """
        begun, least_us = time.monotonic(), math.inf
        for _ in range(_TRIES):
            before = _times_interrupted()
            time_us = self._time_us()
            if _times_interrupted() == before:
                return time_us
            least_us = min(least_us, time_us)
            if time.monotonic() - begun > _TRIED_S:
                break
        return least_us

    def _time_us(self) -> float:
        first, self._next = self._next, (self._next + self.launches) % len(self._rows)
        begun = time.perf_counter_ns()
        self._calls.run(self._rows, first, self.launches)
        taken_ns = time.perf_counter_ns() - begun
        self.done += self.launches
        return taken_ns * 1e-3 / self.launches

    def _settle(self) -> None:
        """Launch until times are in steady state, and set the number of launches per sample."""
        begun, least_us = time.monotonic(), math.inf
        while time.monotonic() - begun < _SETTLED_S:
            least_us = min(least_us, self._time_us())
        self.launches = max(1, math.ceil(_SAMPLE_US / least_us))


def _times_interrupted() -> int:
    """Return how often threads of this process were preempted."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def _buffer_sets(launch: LaunchSpec, given: dict[int, Buffer], rotate_bytes: int) -> list[dict[int, Bytes]]:
    kept = {p for step in launch.steps if step.once for p in step.parameters if isinstance(p, int)}
    own = [i for i, a in enumerate(launch.arguments) if a.role != "scratch" or i in kept]
    shared = [i for i in range(len(launch.arguments)) if i not in own]
    sizes = {i: (a.nbytes, _alignment(a, launch)) for i, a in enumerate(launch.arguments)}
    set_bytes = max(1, sum(sizes[i][0] for i in own))
    count = min(max(1, -(-rotate_bytes // set_bytes)), _MAX_BUFFER_SETS)
    (workspace,) = rows_of_buffers([sizes[i] for i in shared], 1)
    sets = rows_of_buffers([sizes[i] for i in own], count)
    for memory in workspace:
        filled(memory, None, SCRATCH_POISON)
    for row in sets:
        for i, memory in zip(own, row, strict=True):
            filled(memory, given.get(i), SCRATCH_POISON)
    return [dict(zip((*own, *shared), (*row, *workspace), strict=True)) for row in sets]
