"""What a confined child may use, and what of that a machine can make sure of."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Limits:
    """At most so much: address space of each process in bytes, processor time of each and wall time of all in s.

    `file_bytes` is the most that one file, the answer among them, may hold; `processes` counts those of the child.
    """

    memory_bytes: int = 2 * 2**30
    cpu_s: int = 30
    wall_s: float = 30.0
    file_bytes: int = 64 * 2**20
    processes: int = 32


class Limit(StrEnum):
    """A limit that was reached."""

    MEMORY = "memory"
    CPU_TIME = "cpu-time"
    WALL_TIME = "wall-time"
    FILE_SIZE = "file-size"
    NESTING = "nesting"


@dataclass(frozen=True, slots=True)
class Held:
    """What the child found that this machine holds it to. Resources, environment, folder and time are always limited.

    `network` is "namespace" (it has none), "seccomp" (it may not open sockets) or "none"; `files` is "landlock" (it
    reads the programs and writes nothing) or "none"; `system_calls` is "seccomp" (it starts no program and signals
    none) or "none"; `processes` says whether they are counted.
    """

    network: str
    files: str
    system_calls: str
    processes: bool
