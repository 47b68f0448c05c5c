"""Names of workers, which let others on the same host see that one has died."""

import os
import socket
from pathlib import Path

_PROC = Path("/proc")
_START_TICKS = 19  # index after the command's name. Source: proc_pid_stat(5), field 22


def own_name() -> str:
    """Return the name of the worker in this process: host/boot:pid namespace/pid/start in clock ticks since
    boot.
    """
    pid = os.getpid()
    return f"{socket.gethostname()}/{_place() or 'unknown'}/{pid}/{_start_ticks(pid) or 0}"


def is_dead(name: str) -> bool:
    """Return whether the worker of that name is certainly gone; False if it cannot be determined from here.

    It can be determined in the same boot and PID namespace, independent of host name and clock.
    """
    place, _, process = name.partition("/")[2].partition("/")
    number, _, ticks = process.partition("/")
    if place != _place() or not (number.isdecimal() and ticks.isdecimal()):
        return False
    started = _start_ticks(int(number))
    if started is None:
        return not _exists(int(number))
    # The start time distinguishes a process from a later one with the same id.
    return started != int(ticks)


def is_elsewhere(name: str) -> bool:
    """Return whether the worker of that name is certainly on another machine: neither this boot, nor this
    host name.
    """
    host, _, rest = name.partition("/")
    boot, _, _ = rest.partition(":")
    own = (_place() or "").partition(":")[0]
    return bool(own) and len(boot) == len(own) and boot != own and host != socket.gethostname()


def _place() -> str | None:
    """Return the scope of process ids (boot and PID namespace); None if /proc does not have it."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        namespace = (_PROC / "self/ns/pid").readlink()
    except OSError:
        return None
    return f"{boot}:{namespace}"


def _start_ticks(pid: int) -> int | None:
    """Return the start of a process in clock ticks since boot; None if it cannot be read."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command's name is in parentheses and may contain spaces and parentheses.
    return int(stat.rpartition(")")[2].split()[_START_TICKS])


def _exists(pid: int) -> bool:
    """Return whether a process of that id exists, even one that /proc hides from other users."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
