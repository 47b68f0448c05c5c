"""Parent of sandboxed children: starts them, waits up to the time limit, and reports why they ended.

ConfinedFailure
+-- LimitReached  a limit ended it
+-- ChildEnded    it ended without an answer
"""

import json
import os
import pickle
import re
import select
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from hal.process.temporary import temporary_folder
from service.sandbox.limits import (
    NO_GRANTS,
    Grants,
    Held,
    Limit,
    Limits,
)

_SHOWN_CHARACTERS = 300
_OUT_OF_MEMORY = re.compile(r"bad_alloc|out of memory|MemoryError|Cannot allocate memory|mmap.*failed", re.IGNORECASE)


class ConfinedFailure(Exception):
    """Base class: no answer."""


class LimitReached(ConfinedFailure):
    """A limit ended it."""

    def __init__(self, limit: Limit, limits: Limits) -> None:
        super().__init__(_told(limit, limits))
        self.limit = limit


class ChildEnded(ConfinedFailure):
    """It ended without an answer: a crash of the work, triggered by the request."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Output of the child, as untrusted as the request; and its restrictions."""

    document: dict[str, object]
    held: Held


def run_confined(module: str, request: object, limits: Limits, grants: Grants = NO_GRANTS) -> Answer:
    """Run `module.run(request)` in a new, sandboxed process; the request is pickled, the answer is JSON.

    Raises:
        LimitReached: names the limit.
        ChildEnded: it ended otherwise.
    """
    with _file("request") as given, _file("answer") as answer, _file("errors") as errors:
        os.write(given, pickle.dumps(request))
        os.lseek(given, 0, os.SEEK_SET)
        arguments = [module, json.dumps(asdict(limits)), json.dumps(grants.programs)]
        code = _run(arguments, (given, answer, errors), limits.wall_s, grants.files)
        lines = _content(answer, limits.file_bytes).splitlines()
        said = _content(errors, limits.file_bytes).decode(errors="replace")
    if code is None:
        raise LimitReached(Limit.WALL_TIME, limits)
    if code == -signal.SIGXCPU:
        raise LimitReached(Limit.CPU_TIME, limits)
    if code == -signal.SIGXFSZ:
        raise LimitReached(Limit.FILE_SIZE, limits)
    if code != 0 or len(lines) < (1 if module == "nothing" else 2):
        raise _ended(code, said, limits)
    held = Held(**json.loads(lines[0])["held"])
    document: dict[str, object] = {} if module == "nothing" else json.loads(lines[1])
    if "limit" in document:
        raise LimitReached(Limit(str(document["limit"])), limits)
    return Answer(document, held)


def probe(limits: Limits) -> Held:
    """Return the restrictions of a sandboxed child on this machine.

    Raises:
        ConfinedFailure: it does not start.
    """
    return run_confined("nothing", None, limits).held


def _run(arguments: list[str], files: tuple[int, int, int], wall_s: float, kept: tuple[int, ...]) -> int | None:
    """Run a child; return its exit code, or None if it took too long. Its processes are gone on return."""
    command = [sys.executable, "-I", "-X", "utf8", "-m", "service.sandbox.child", *arguments]
    with temporary_folder("confined") as empty:
        process = subprocess.Popen(
            command,
            stdin=files[0],
            stdout=files[1],
            stderr=files[2],
            env={},
            cwd=empty,
            start_new_session=True,
            pass_fds=kept,
        )
        watched = os.pidfd_open(process.pid)
        try:
            waiting = select.poll()
            waiting.register(watched, select.POLLIN)
            in_time = bool(waiting.poll(wall_s * 1000))
        finally:
            os.close(watched)
            # Before the wait: until then its id cannot be reused by another group.
            os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
    return code if in_time else None


def _ended(code: int, said: str, limits: Limits) -> ConfinedFailure:
    if _OUT_OF_MEMORY.search(said):
        return LimitReached(Limit.MEMORY, limits)
    if "RecursionError" in said:
        return LimitReached(Limit.NESTING, limits)
    how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
    last = said.strip().rpartition("\n")[2][:_SHOWN_CHARACTERS]
    return ChildEnded(f"the compiler ended with {how}{f': {last}' if last else ''}")


def _told(limit: Limit, limits: Limits) -> str:
    return {
        Limit.MEMORY: f"it needs more than {limits.memory_bytes} bytes of memory",
        Limit.CPU_TIME: f"it takes more than {limits.cpu_s} s of processor time",
        Limit.WALL_TIME: f"it takes more than {limits.wall_s:g} s",
        Limit.FILE_SIZE: f"it makes more than {limits.file_bytes} bytes",
        Limit.NESTING: "it is nested deeper than the compiler can follow",
    }[limit]


@contextmanager
def _file(name: str) -> Generator[int]:
    """Open an anonymous file in memory."""
    file = os.memfd_create(name)
    try:
        yield file
    finally:
        os.close(file)


def _content(file: int, most: int) -> bytes:
    return os.pread(file, min(os.fstat(file).st_size, most), 0)
