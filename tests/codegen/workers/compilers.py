"""Compilers that go wrong, for worker processes to run."""

import os
import signal
import time
from typing import NoReturn

from codegen import CompileFailed, GemmProblem, XeConfig
from hal import DeviceSpec


def blocked_signals() -> set[int]:
    """Return the signals that a process does not get."""
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def aborting(problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> NoReturn:
    """Ends its process as LLVM does."""
    os.abort()


def exiting(problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> NoReturn:
    """Ends its process with a status."""
    os._exit(7)


def hanging(problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> NoReturn:
    """Never answers, not even to signals that can be ignored."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(60)


def failing(problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> NoReturn:
    """Fails in a stage."""
    raise CompileFailed("llvm", "a diagnostic")


def faulty(problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> NoReturn:
    """Raises an error that no stage expects."""
    raise NotImplementedError("tiles of 3 rows")


def told_to_end() -> int:
    """Receive a SIGTERM that does not come from the parent; return the id of the process."""
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0.2)
    return os.getpid()
