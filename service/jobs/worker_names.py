"""Names of workers, by which others on the same host see that one has died."""

import os
import socket
from pathlib import Path

_PROC = Path("/proc")
_START_TICKS = 19  # among the fields after the command's name. Source: proc_pid_stat(5), field 22


def own_name() -> str:
    """The name of the worker in this process: host/boot:pid namespace/pid/start in clock ticks since boot."""
    pid = os.getpid()
    return f"{socket.gethostname()}/{_place() or 'unknown'}/{pid}/{_start_ticks(pid) or 0}"


def is_dead(name: str) -> bool:
    """Whether the worker of that name is gone for sure; False when it cannot be known from here.

    It can be known in the same boot and PID namespace, whatever the host is called and however its clock is set.
    """
    place, _, process = name.partition("/")[2].partition("/")
    number, _, ticks = process.partition("/")
    if place != _place() or not (number.isdecimal() and ticks.isdecimal()):
        return False
    started = _start_ticks(int(number))
    if started is None:
        return not _exists(int(number))
    # The start tells a process from a later one that was given its number.
    return started != int(ticks)


def is_elsewhere(name: str) -> bool:
    """Whether the worker of that name is on another machine for sure: neither this boot of it, nor of this name."""
    host, _, rest = name.partition("/")
    boot, _, _ = rest.partition(":")
    own = (_place() or "").partition(":")[0]
    return bool(own) and len(boot) == len(own) and boot != own and host != socket.gethostname()


def _place() -> str | None:
    """Where process ids mean the same; None where /proc does not tell."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        namespace = (_PROC / "self/ns/pid").readlink()
    except OSError:
        return None
    return f"{boot}:{namespace}"


def _start_ticks(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None when it cannot be seen."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command's name is in brackets and may hold spaces and brackets.
    return int(stat.rpartition(")")[2].split()[_START_TICKS])


def _exists(pid: int) -> bool:
    """Whether there is a process of that number, even one that /proc hides from other users."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
