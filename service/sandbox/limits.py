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
    (read-only access to programs) or "none"; `truncation`, by what others' files cannot be emptied, "landlock",
    "seccomp" (of Linux before 6.2) or "none"; `system_calls` is "seccomp" (only those of an allow-list) or "none";
    `process_ids` is "namespace" (sees no other process) or "none"; `user` is "own" (a user that nothing else runs
    as) or "service"; `processes` is whether their number is limited.
    """

    network: str
    files: str
    truncation: str
    system_calls: str
    process_ids: str
    user: str
    processes: bool

    @property
    def lacks(self) -> list[str]:
        """Restrictions that this machine lacks, with the remedy."""
        return [words for fact, value, words in _LACKS if getattr(self, fact) == value]


_LACKS = (
    ("network", "none", "the network can be reached: permit user namespaces, or seccomp"),
    ("files", "none", "files of the service's user can be read and written: use Linux 5.13 or newer with Landlock"),
    ("truncation", "none", "files of the service's user can be emptied: use Linux 6.2 or newer, or permit seccomp"),
    ("system_calls", "none", "system calls are not restricted: use x86-64 or 64-bit Arm, and permit seccomp"),
    ("process_ids", "none", "other processes are visible, though no call may act on them: permit user namespaces"),
    ("processes", False, "the number of processes is not limited: run the service as a user other than root"),
)
