"""Compilers that go wrong, for worker processes to run."""

import ctypes
import os
import signal
import time
from multiprocessing.connection import Connection
from typing import NoReturn

from codegen import CompileFailed, GemmProblem, KernelConfig
from codegen.workers.pool import CompilePool
from hal import DeviceSpec


def blocked_signals() -> set[int]:
    """Return the signals that a process does not get."""
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def aborting(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> NoReturn:
    """Ends its process as LLVM does."""
    os.abort()


def exiting(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> NoReturn:
    """Ends its process with a status."""
    os._exit(7)


def hanging(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> NoReturn:
    """Never answers, and runs no other thread of Python, as a pass of MLIR."""
    while True:
        ctypes.PyDLL(None).sleep(60)


def failing(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> NoReturn:
    """Fails in a stage."""
    raise CompileFailed("llvm", "a diagnostic")


def faulty(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> NoReturn:
    """Raises an error that no stage expects."""
    raise NotImplementedError("tiles of 3 rows")


def told_to_end() -> int:
    """Receive a SIGTERM that does not come from the parent; return the id of the process."""
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0.2)
    return os.getpid()


def abandoned(told: "Connection[int, int]") -> NoReturn:
    """Send the id of a worker, and end this process, its parent, while it works."""
    pool = CompilePool(1, 600.0, None)
    told.send(pool._schedule(os.getpid).result())
    work = pool._schedule(time.sleep, 600.0)
    while not work.running():
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError
