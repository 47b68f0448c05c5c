"""The faults of a seed: each happens at the first fitting moment from its step on."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What may go wrong. Those below the line take effect at the next matching call after their step."""

    KILL = "a process is killed"
    STALL = "a process stands still"
    GONE = "the database is gone"
    SLOW = "the database is slow"
    CUT = "a host has no network"
    JUMP = "a clock jumps"
    DISK_FULL = "the disk is full"
    # ---
    KILL_BEFORE_COMMIT = "a process is killed before a commit"
    KILL_AFTER_COMMIT = "a process is killed after a commit"
    UNKNOWN_COMMIT = "a commit is applied and its answer lost"
    SERIALISATION = "a transaction fails to serialise"
    LOCK_TIMEOUT = "a lock is not given in time"
    DATABASE_FULL = "the database's disk is full"
    TORN = "a process is killed in the middle of an artifact"
    TORN_FILE = "a host fails and leaves half an artifact under its name"
    DEVICE_HANGS = "a launch hangs"
    DEVICE_CRASHES = "a launch crashes"
    DEVICE_WRONG = "a launch computes a wrong result"
    DEVICE_NOISE = "a launch takes much longer"
    DEVICE_BROKEN = "six launches crash"
    COMPILER_CRASHES = "the compiler crashes"
    COMPILER_HANGS = "the compiler hangs"
    EXECUTOR_LOST = "an executor is lost in a launch"
    LATE_REPORT = "the report of a launch comes late"
    DOUBLED_LAUNCH = "a launch is received and executed twice"
    LOST_ANSWER = "the answer to a request is lost, and it is sent again"


TIMED = (Kind.KILL, Kind.STALL, Kind.GONE, Kind.SLOW, Kind.CUT, Kind.JUMP, Kind.DISK_FULL)


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: at `step`, for `seconds`; `which` selects a process or host."""

    step: int
    kind: Kind
    seconds: float
    which: int

    def __str__(self) -> str:
        return f"step {self.step}: {self.kind} ({self.seconds:.1f} s, number {self.which})"


_SECONDS: dict[Kind, tuple[float, float]] = {
    Kind.KILL: (0.0, 90.0),  # until its next process starts
    Kind.STALL: (5.0, 200.0),
    Kind.GONE: (1.0, 120.0),
    Kind.SLOW: (1.0, 60.0),
    Kind.CUT: (1.0, 200.0),
    Kind.JUMP: (-4000.0, 4000.0),
    Kind.DISK_FULL: (1.0, 100.0),
    Kind.LATE_REPORT: (5.0, 200.0),
}


def planned(seed: int, steps: int) -> tuple[Fault, ...]:
    """Return the faults of a seed, within the first `steps`."""
    numbers = random.Random(f"faults {seed}")
    kinds = numbers.sample(list(Kind), numbers.randint(2, 10))
    made: list[Fault] = []
    for _ in range(numbers.randint(0, 12)):
        kind = numbers.choice(kinds)
        seconds = round(numbers.uniform(*_SECONDS.get(kind, (0.0, 60.0))), 1)
        made.append(Fault(numbers.randrange(steps), kind, seconds, numbers.randrange(100)))
    return tuple(sorted(made, key=lambda fault: fault.step))
