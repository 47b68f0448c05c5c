"""Linked code with its thread pools, and calls of a launch's steps in it."""

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hal.cpu.call_loop import (
    LAUNCH,
    PREPARE,
    call_loops,
    failed_step,
)
from hal.cpu.memory import Bytes
from hal.cpu.object_code import (
    LinkedCode,
    Linker,
)
from hal.device import LaunchSpec, Scalar
from hal.errors import DeviceFailed, KernelBuildFailed

_POOL_CREATE, _POOL_DESTROY = "xetune_pool_create", "xetune_pool_destroy"
_STATUSES = {
    1: "it needs more threads than the launch says",
    2: "the Linux kernel refuses it AMX",
    3: "a buffer that it writes overlaps another one",
}

_Call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, *(ctypes.c_int64,) * 3)
_Create = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)
_Destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Program:
    """Linked code and its thread pools, by number of threads."""

    def __init__(self, code: LinkedCode, cpus: tuple[int, ...] | None) -> None:
        self._code = code
        self._cpus = cpus
        self._pools: dict[int, int] = {}
        self.prepare = _Call(code.address(PREPARE))
        self.launch = _Call(code.address(LAUNCH))

    def pool(self, threads: int) -> int:
        """Return the pool of that many threads."""
        if threads not in self._pools:
            cpus = (ctypes.c_int32 * threads)(*self._cpus[:threads]) if self._cpus is not None else None
            before = os.sched_getaffinity(0)
            pool = _Create(self._code.address(_POOL_CREATE))(threads, cpus)
            os.sched_setaffinity(0, before)  # a pool may have pinned its caller
            if not pool:
                raise DeviceFailed(f"no pool of {threads} threads could be made")
            self._pools[threads] = pool
        return self._pools[threads]

    def close(self) -> None:
        """End the threads, whose code is dropped with this object."""
        for pool in self._pools.values():
            _Destroy(self._code.address(_POOL_DESTROY))(pool)
        self._pools.clear()


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of one launch's steps."""

    program: Program
    pool: int
    launch: LaunchSpec

    def rows(self, sets: Sequence[dict[int, Bytes]]) -> NDArray[np.int64]:
        """Return the parameters of all steps for each set of buffers."""
        parameters = [parameter for step in self.launch.steps for parameter in step.parameters]
        return np.array(
            [[p.value if isinstance(p, Scalar) else held[p].ctypes.data for p in parameters] for held in sets],
            np.int64,
        ).reshape(len(sets), len(parameters))

    def prepare(self, rows: NDArray[np.int64]) -> None:
        """Run the `once` steps for each set."""
        self._check(self.program.prepare(self.pool, rows.ctypes.data, len(rows), 0, len(rows)))

    def run(self, rows: NDArray[np.int64], first: int, count: int) -> None:
        """Launch `count` times over the rotating sets, starting with number `first`."""
        self._check(self.program.launch(self.pool, rows.ctypes.data, len(rows), first, count))

    def _check(self, result: int) -> None:
        failed = failed_step(self.launch, result)
        if failed is not None:
            step, status = failed
            why = _STATUSES.get(status, "no status that is known")
            raise KernelBuildFailed(f"kernel {step.kernel} returned {status}: {why}")


def link(linker: Linker, launch: LaunchSpec, cpus: tuple[int, ...] | None) -> Program:
    """Link the code of a launch; its threads are pinned to the first of `cpus`, or not pinned.

    Raises:
        KernelBuildFailed: it cannot be linked.
    """
    names = (_POOL_CREATE, _POOL_DESTROY, PREPARE, LAUNCH)
    return Program(linker.link(launch.binary, call_loops(launch), names), cpus)
