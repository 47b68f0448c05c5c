"""Limits of a sandboxed child, and which of them this machine enforces."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits: address space of each process in bytes, processor time of each and wall time of all in s.

    `file_bytes` is the maximum size of one file, including the answer; `processes` counts those of the child.
    """

    memory_bytes: int = 2 * 2**30
    cpu_s: int = 30
    wall_s: float = 30.0
    file_bytes: int = 64 * 2**20
    processes: int = 32


@dataclass(frozen=True, slots=True)
class Grants:
    """Permissions of a child beyond those of all children.

    With `programs`, folders, it may start programs of the system and of those, and write to its own folder. `files` are
    open files of this process that it inherits under the same numbers.
    """

    programs: tuple[str, ...] = ()
    files: tuple[int, ...] = ()


NO_GRANTS = Grants()


class Limit(StrEnum):
    """A limit that was reached."""

    MEMORY = "memory"
    CPU_TIME = "cpu-time"
    WALL_TIME = "wall-time"
    FILE_SIZE = "file-size"
    NESTING = "nesting"


@dataclass(frozen=True, slots=True)
class Held:
    """Restrictions that this machine enforces. Resources, environment, folder and time are always limited.

    `network` is "namespace" (no network), "seccomp" (cannot open sockets) or "none"; `files` is "landlock"
    (read-only access to programs) or "none"; `system_calls` is "seccomp" (cannot start programs or send
    signals) or "none"; `processes` is whether their number is limited.
    """

    network: str
    files: str
    system_calls: str
    processes: bool
