"""Sandboxed child: drops its privileges, then reads the request. Run with `python -I -m`.

Only modules that the sandbox needs are imported before it is active; the work's modules are imported after.
"""

import json
import os
import pickle
import resource
import signal
import sys
from dataclasses import asdict

from service.sandbox import linux, seccomp
from service.sandbox.limits import (
    Held,
    Limit,
    Limits,
)

_OUT, _ERRORS_OUT = 1, 2
_PROGRAMS = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/null", "/dev/urandom", "/sys/devices/system/cpu")


def main() -> None:
    """Activate the sandbox, run the work that the first argument names on the request, and write the answer."""
    module, limits = sys.argv[1], Limits(**json.loads(sys.argv[2]))
    answer = _keep_output_apart()
    held = confine(limits, json.loads(sys.argv[3]))
    _write(answer, {"held": asdict(held)})
    if module == "nothing":
        return
    try:
        work = __import__(module, fromlist=["run"])
        result = work.run(pickle.load(sys.stdin.buffer))  # written by the service itself
    except MemoryError:
        result = {"limit": Limit.MEMORY.value}
    except RecursionError:
        result = {"limit": Limit.NESTING.value}
    _write(answer, result)
    # Exit without clean-up of libraries that were interrupted.
    os._exit(0)


def confine(limits: Limits, programs: list[str]) -> Held:
    """Drop, irrevocably, what `Held` states, and return in a process of its own; programs may be started if folders of
    any are given.
    """
    linux.end_with_parent()
    _lower(resource.RLIMIT_CORE, 0)
    readable = [*_PROGRAMS, sys.prefix, sys.base_prefix, *filter(None, sys.path), *programs]
    own_user, was_root = linux.may_own_user(readable), os.getuid() == 0
    apart, own_ids = linux.leave_namespaces(as_root=own_user)
    if own_ids:
        _enter_process_ids()
    if own_user and not linux.become_own_user(os.curdir):
        own_user = False
        linux.leave_namespaces(as_root=False)
    linux.end_with_parent()
    for what, most in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_MEMLOCK, 0),
    ):
        _lower(what, most)
    # The soft limit ends it with a signal that identifies the reason, the hard limit without.
    _lower(resource.RLIMIT_CPU, limits.cpu_s, limits.cpu_s + 1)
    # Processes are counted by user, except root's, and in a user namespace only those within.
    counted = own_user or (apart and not was_root)
    if counted:
        _lower(resource.RLIMIT_NPROC, limits.processes)
    linux.gain_nothing()
    started = [*_PROGRAMS, *programs] if programs else []
    files = linux.read_only(readable, started, [os.curdir] if programs else [])
    truncates = linux.landlock_version() >= linux.TRUNCATES
    calls = seccomp.allow_calls(
        own_process_ids=own_ids, programs=bool(programs), landlock_truncates=files and truncates
    )
    return Held(
        network="namespace" if apart else "seccomp" if calls else "none",
        files="landlock" if files else "none",
        truncation="none" if not files else "landlock" if truncates else "seccomp" if calls else "none",
        system_calls="seccomp" if calls else "none",
        process_ids="namespace" if own_ids else "none",
        user="own" if own_user else "service",
        processes=counted,
    )


def _enter_process_ids() -> None:
    """Return in the second process of a new process id namespace; the others wait, and this one ends as it did.

    The first ignores signals that would end it, those of limits included, so it does nothing but wait. Linux ends all
    others with it.
    """
    ended, told = os.pipe()
    first = os.fork()
    if first:
        os.waitpid(first, 0)
        os.close(told)
        _end_as(int(os.read(ended, 16) or 1 << 8))
    linux.end_with_parent()
    second = os.fork()
    if second:
        waited, status = 0, 0
        while waited != second:
            waited, status = os.wait()
        os.write(told, str(status).encode())
        os._exit(0)
    os.close(ended)
    os.close(told)


def _end_as(status: int) -> None:
    """End as a child did with this status."""
    if os.WIFSIGNALED(status):
        ended_by = os.WTERMSIG(status)
        if ended_by != signal.SIGKILL:
            signal.signal(ended_by, signal.SIG_DFL)
        os.kill(os.getpid(), ended_by)
    os._exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1)


def _lower(what: int, soft: int, hard: int | None = None) -> None:
    most = resource.getrlimit(what)[1]
    wanted = soft if hard is None else hard
    allowed = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(what, (min(soft, allowed), allowed))


def _keep_output_apart() -> int:
    """Return a file for the answer only: output of libraries must not get into it."""
    answer = os.dup(_OUT)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, _OUT)
    os.close(silent)
    return answer


def _write(answer: int, document: object) -> None:
    data = json.dumps(document, allow_nan=False).encode() + b"\n"
    while data:
        data = data[os.write(answer, data) :]


if __name__ == "__main__":
    main()
