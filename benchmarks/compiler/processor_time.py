"""Processor time of a process that is set up as a compile worker, and the speed of the machine."""

import contextlib
import time

import psutil

_ADDITIONS = 1_000_000
_TIMES = 5


def cpu_ms(emitter: psutil.Process) -> float:
    """Return the time of this process and of the forks that emit SPIR-V, which Linux counts in steps of 10 ms."""
    while True:
        forks = (emitter, *emitter.children(recursive=True))
        with contextlib.suppress(psutil.NoSuchProcess):  # a fork ended, and its time became that of its parent
            return (time.process_time() + sum(sum(fork.cpu_times()[:4]) for fork in forks)) * 1e3


def loop_text() -> str:
    """Return what a loop takes now, which tells times of different machines and hours apart."""
    return f"a loop of {_ADDITIONS:,} additions takes {min(_loop_ms() for _ in range(_TIMES)):.0f} ms"


def _loop_ms() -> float:
    begun, total = time.process_time(), 0
    for number in range(_ADDITIONS):
        total += number
    return (time.process_time() - begun) * 1e3
