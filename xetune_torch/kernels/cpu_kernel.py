"""Kernels for this CPU: object code that is called with addresses of tensors."""

import ctypes
import json
import os
import threading
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Protocol

import torch

from hal.cpu.object_code import LinkedCode, Linker
from hal.facts.amx import refusal_of_amx
from xetune_torch.errors import KernelRefused

Launch = Callable[..., int]
"""Compute with the addresses of the operands, in the problem's order; return the status, 0 for success."""
_POOL_CREATE = "xetune_pool_create"
_STATUSES = {
    1: "its pool has too few threads",
    2: "Linux does not permit AMX",
    3: "an output overlaps another operand",
}
_OWN = ("workspace", "packed_B")
_linking = threading.Lock()
_pools: dict[str, "_Contexts"] = {}
_pool_code: list[LinkedCode] = []  # threads of pools run it until the process ends


class Plan(Protocol):
    """Computation of a product: a kernel, or a kernel for other rows. Thread-safe.

    `threads` is how many threads it runs on, `prepacked` whether B is what `pack` made; launches take the addresses
    of the operands, then that of the packed B.
    """

    threads: int
    alignment: int
    prepacked: bool
    launch: Launch

    def pack(self, *operands: int) -> torch.Tensor:
        """Return B packed, from the addresses of B and, if quantised, its scales and zero points."""
        ...


class CpuKernel:
    """A kernel of `kernel.o` and `kernel.json`, linked into this process. Calls release the GIL.

    Raises:
        KernelRefused: this CPU lacks its instructions, Linux does not permit AMX, or it cannot be linked.
    """

    def __init__(self, manifest: Mapping[str, object], binary: bytes) -> None:
        from hal.errors import KernelBuildFailed

        read = json.loads(json.dumps(manifest))
        if lacking := sorted(set(read["needs"]) - _flags()):
            raise KernelRefused(f"the kernel needs {', '.join(lacking)}, which this CPU lacks: tune on this machine")
        if any(flag.startswith("amx") for flag in read["needs"]) and (refusal := refusal_of_amx()) is not None:
            raise KernelRefused(refusal)
        steps = read["steps"]
        names = {argument["index"]: argument for argument in read["arguments"]}
        (step,) = (step for step in steps if not step["once"])
        packs = next((step for step in steps if step["once"]), None)
        try:
            with _linking:
                self._code = _linker().link(binary, "", (_POOL_CREATE, *(step["kernel"] for step in steps)))
        except KernelBuildFailed as error:
            raise KernelRefused(str(error)) from error
        self.threads: int = read["threads"]
        self.alignment: int = read["pointer_alignment_bytes"]
        self.prepacked = packs is not None
        parameters = [names[p["argument"]] for p in step["parameters"]]
        self._workspace = next((a["bytes"] for a in parameters if a["name"] == "workspace"), 0)
        self._contexts = _contexts_of(read["toolchain"], self.threads, self._code)
        self._function = _function(self._code.address(step["kernel"]), 1 + len(parameters))
        self._packed_bytes = next((a["bytes"] for a in parameters if a["name"] == "packed_B"), 0)
        self._packer = (
            None if packs is None else _function(self._code.address(packs["kernel"]), 1 + len(packs["parameters"]))
        )
        self.launch = self._with_workspace() if self._workspace else self._without_workspace()

    def pack(self, *operands: int) -> torch.Tensor:
        """Return B packed, from the addresses of B and, if quantised, its scales and zero points."""
        assert self._packer is not None
        packed = torch.empty(self._packed_bytes, dtype=torch.uint8)
        context = self._contexts.take()
        status = self._packer(context.pool, *operands, packed.data_ptr())
        self._contexts.free.append(context)
        check(status)
        return packed

    def _without_workspace(self) -> Launch:
        function, take, give = self._function, self._contexts.free.pop, self._contexts.free.append
        new = self._contexts.new

        def launch(*operands: int) -> int:
            try:
                context = take()
            except IndexError:
                context = new()
            status = function(context.pool, *operands)
            give(context)
            return status

        return launch

    def _with_workspace(self) -> Launch:
        function, contexts, nbytes, prepacked = self._function, self._contexts, self._workspace, self.prepacked

        def launch(*operands: int) -> int:
            context = contexts.take()
            if context.nbytes < nbytes:
                context.grow(nbytes)
            if prepacked:
                status = function(context.pool, *operands[:-1], context.workspace, operands[-1])
            else:
                status = function(context.pool, *operands, context.workspace)
            contexts.free.append(context)
            return status

        return launch


def check(status: int) -> None:
    """Raise unless a launch succeeded.

    Raises:
        KernelRefused: nothing was computed.
    """
    if status:
        raise KernelRefused(f"the kernel computed nothing: {_STATUSES.get(status, f'status {status}')}")


class _Context:
    """Resources of one call: a pool of threads, and memory."""

    def __init__(self, pool: int) -> None:
        self.pool, self.nbytes, self.workspace = pool, 0, 0
        self._memory: torch.Tensor | None = None

    def grow(self, nbytes: int) -> None:
        """Allocate at least that much memory."""
        memory = torch.empty(nbytes, dtype=torch.uint8)
        self._memory, self.nbytes, self.workspace = memory, nbytes, memory.data_ptr()


class _Contexts:
    """Contexts that no call uses, shared by kernels of one release and number of threads.

    A list's `pop` and `append` are atomic, so that calls need no lock.
    """

    def __init__(self, threads: int, create: int) -> None:
        self._threads = threads
        self._create = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)(create)
        self.free: list[_Context] = []

    def take(self) -> _Context:
        """Return a free context, or a new one."""
        try:
            return self.free.pop()
        except IndexError:
            return self.new()

    def new(self) -> _Context:
        """Return a new context, with threads of its own.

        Raises:
            KernelRefused: no more threads can be started.
        """
        before = os.sched_getaffinity(0)
        pool = self._create(self._threads, None)
        os.sched_setaffinity(0, before)
        if not pool:
            raise KernelRefused(f"no pool of {self._threads} threads could be made")
        return _Context(pool)


def _contexts_of(toolchain: object, threads: int, code: LinkedCode) -> _Contexts:
    key = json.dumps([toolchain, threads], sort_keys=True)
    with _linking:
        if key not in _pools:
            _pools[key] = _Contexts(threads, code.address(_POOL_CREATE))
            _pool_code.append(code)
        return _pools[key]


def _forget_threads() -> None:
    """Forget the pools in a forked process, which has none of their threads."""
    for contexts in _pools.values():
        contexts.free.clear()


os.register_at_fork(after_in_child=_forget_threads)


def _function(address: int, parameters: int) -> Callable[..., int]:
    return ctypes.CFUNCTYPE(ctypes.c_int32, *(ctypes.c_void_p,) * parameters)(address)


@cache
def _linker() -> Linker:
    return Linker()


@cache
def _flags() -> set[str]:
    """Return the instruction sets of this CPU, as Linux names them."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return set(line.partition(":")[2].split())
    return set()
