"""Sandboxed child: drops its privileges, then reads the request. Run with `python -I -m`.

Only modules that the sandbox needs are imported before it is active; the work's modules are imported after.
"""

import json
import os
import pickle
import resource
import sys
from dataclasses import asdict

from service.sandbox import linux
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
    """Drop, irrevocably, what `Held` states; programs may be started if folders of any are given."""
    linux.end_with_parent()
    was_root = os.getuid() == 0
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_MEMLOCK, 0),
    ):
        _lower(what, most)
    # The soft limit ends it with a signal that identifies the reason, the hard limit without.
    _lower(resource.RLIMIT_CPU, limits.cpu_s, limits.cpu_s + 1)
    apart = linux.leave_network()
    # Only in a separate user namespace are only its own processes counted, and root's are not.
    counted = apart and not was_root
    if counted:
        _lower(resource.RLIMIT_NPROC, limits.processes)
    linux.gain_nothing()
    started = [*_PROGRAMS, *programs] if programs else []
    files = linux.read_only(
        [*_PROGRAMS, sys.prefix, sys.base_prefix, *filter(None, sys.path)], started, [os.curdir] if programs else []
    )
    calls = linux.refuse_calls(programs=bool(programs))
    return Held(
        network="namespace" if apart else "seccomp" if calls else "none",
        files="landlock" if files else "none",
        system_calls="seccomp" if calls else "none",
        processes=counted,
    )


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
