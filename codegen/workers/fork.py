"""Execution in a fork of work that may end its process."""

import os
import resource
import selectors
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
    # Pipes, not files in memory: no limit of a confined process counts those.
    (result, told), (errors, said) = os.pipe(), os.pipe()
    try:
        child = os.fork()
    except OSError:
        for pipe in (result, told, errors, said):
            os.close(pipe)
        raise
    if child == 0:
        os.close(result)
        os.close(errors)
        _run(work, told, said, cpu_limit_s)
    os.close(told)
    os.close(said)
    data, output = _read_all(result, errors)
    _, status = os.waitpid(child, 0)
    if status != 0:
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGXCPU:
            raise CompileFailed(stage, f"{who} took more than {cpu_limit_s} s of processor time")
        raise CompileFailed(stage, _reason(who, code, data if code == _REFUSED else output))
    return data


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
        _write(result, work())
        status = 0
    except CompileFailed as failed:
        _write(result, failed.message.encode())  # not to `errors`: output of a library is not the reason
    except (RuntimeError, OSError, MemoryError) as error:
        _write(result, str(error).encode())
    finally:
        os._exit(status)


def _write(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def _reason(who: str, code: int, said: bytes) -> str:
    message = said.decode(errors="replace").strip()[:_SHOWN_CHARACTERS]
    if code == _REFUSED:
        return message
    ended = f"{who} ended with {signal.Signals(-code).name if code < 0 else f'exit status {code}'}"
    return f"{ended}: {message}" if message else ended


def _read_all(*pipes: int) -> list[bytes]:
    """Return what is written to each pipe until all are closed at their other end."""
    read: dict[int, list[bytes]] = {pipe: [] for pipe in pipes}
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, 1 << 16)
                read[key.fd].append(data)
                if not data:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    return [b"".join(parts) for parts in read.values()]
