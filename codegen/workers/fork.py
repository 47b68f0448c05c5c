"""Execution in a fork of work that may end its process."""

import os
import resource
import signal
from collections.abc import Callable
from typing import NoReturn

from codegen.errors import CompileFailed

_SHOWN_CHARACTERS = 500
_REFUSED = 64  # exit status of a fork whose work raised; LLVM's own fatal errors exit with 1


def in_fork(stage: str, who: str, work: Callable[[], bytes], cpu_limit_s: int) -> bytes:
    """Return the result of `work`, run in a fork of this process that it may end; messages name it `who`.

    Raises:
        CompileFailed: the stage; `work` raised, ended the fork, or took more processor time than the limit.
    """
    result, errors = os.memfd_create("result"), os.memfd_create("errors")
    try:
        child = os.fork()
        if child == 0:
            _run(work, result, errors, cpu_limit_s)
        _, status = os.waitpid(child, 0)
        if status != 0:
            code = os.waitstatus_to_exitcode(status)
            if code == -signal.SIGXCPU:
                raise CompileFailed(stage, f"{who} took more than {cpu_limit_s} s of processor time")
            raise CompileFailed(stage, _reason(who, code, _content(errors)))
        return _content(result)
    finally:
        os.close(result)
        os.close(errors)


def _run(work: Callable[[], bytes], result: int, errors: int, cpu_limit_s: int) -> NoReturn:
    """Run the work in the fork, which must not return to the caller's code."""
    status = _REFUSED
    try:
        os.dup2(errors, 2)
        # The worker may be ended while this runs: the limit then ends this process, which outlives it.
        # A process that is itself limited may not give a fork more.
        most = resource.getrlimit(resource.RLIMIT_CPU)[1]
        hard = cpu_limit_s + 1 if most == resource.RLIM_INFINITY else min(cpu_limit_s + 1, most)
        resource.setrlimit(resource.RLIMIT_CPU, (min(cpu_limit_s, hard), hard))
        data = memoryview(work())
        while data:
            data = data[os.write(result, data) :]
        status = 0
    except CompileFailed as failed:
        _say(errors, failed.message)
    except (RuntimeError, OSError, MemoryError) as error:
        _say(errors, str(error))
    finally:
        os._exit(status)


def _say(errors: int, message: str) -> None:
    """Report only this text: earlier output of a library is not the reason."""
    os.ftruncate(errors, 0)
    os.pwrite(errors, message.encode(), 0)


def _reason(who: str, code: int, said: bytes) -> str:
    message = said.decode(errors="replace").strip()[:_SHOWN_CHARACTERS]
    if code == _REFUSED:
        return message
    ended = f"{who} ended with {signal.Signals(-code).name if code < 0 else f'exit status {code}'}"
    return f"{ended}: {message}" if message else ended


def _content(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)
