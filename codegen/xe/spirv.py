"""The only interface to LLVM's SPIR-V target.

The target keeps state between modules: ids of blocks by the addresses of functions that it has freed, so that a later
module may define an id twice. And an error ends the process. So a module is emitted by a fork of a process that never
emitted one, and a fork emits further modules only from new memory. A process that emits many starts an emitter while
it is small.
"""

import contextlib
import os
import resource
from collections.abc import Callable

import llvmlite.binding as llvm

from codegen.errors import CompileFailed
from codegen.workers.fork import in_fork
from codegen.workers.fork_server import (
    ForkServer,
    ForkServerEnded,
    do_nothing,
)
from codegen.workers.own_heaps import OwnHeaps
from codegen.xe.nbarrier_intrinsics import with_intrinsics
from codegen.xe.spirv_cache_hints import group_cache_hints
from codegen.xe.spirv_check import check_spirv

TRIPLE = "spirv64-unknown-unknown"

_STAGE, _LLVM = "spirv", "LLVM"
_CPU_LIMIT_S = 60
_REUSED_CPU_LIMIT_S = 10  # for a module in a fork that emitted others; one that takes longer gets a fork of its own
_MODULES_PER_FORK = 16  # the memory of each is kept, 2 to 5 MiB
# The first is for rounding f32 to bf16, the second for cache hints.
_EXTENSIONS = ",".join(
    (
        "+SPV_INTEL_bfloat16_conversion",
        "+SPV_INTEL_cache_controls",
        "+SPV_EXT_shader_atomic_float_add",
        "+SPV_EXT_shader_atomic_float_min_max",
        "+SPV_INTEL_subgroups",
    )
)

llvm.set_option("", f"-spirv-ext={_EXTENSIONS}")
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()


def target_machine() -> llvm.TargetMachine:
    """Create a machine; one machine emits one module.

    Its own optimisations are disabled, as they can drop a truncation; the input IR is already optimised.
    """
    return llvm.Target.from_triple(TRIPLE).create_target_machine(opt=0)


def emit_spirv(text: str, meanwhile: Callable[[], None] = do_nothing) -> bytes:
    """Compile LLVM IR text to SPIR-V; deterministic. `meanwhile` is done while an emitter works, if there is one.

    Raises:
        CompileFailed: LLVM rejected the text, aborted, or emitted an invalid module.
    """
    code = text.encode()
    emitted = _emitted(code, meanwhile)
    try:
        return _checked(emitted)
    except CompileFailed:
        if not _emitters:
            raise
        return _checked(_emitted_alone(code))  # the fork may have emitted others


def start_emitter() -> ForkServer:
    """Fork this process now as the server from which later `emit_spirv` calls fork."""
    forks = _Forks()
    _emitters[:] = [ForkServer(_STAGE, forks.emitted, forks.prepare)]
    return _emitters[0]


_emitters: list[ForkServer] = []


class _Forks:
    """Forks of this process that emit several modules each, one after the other."""

    def __init__(self) -> None:
        self._fork: ForkServer | None = None
        self._left = 0

    def prepare(self) -> None:
        """Fork, if the fork has emitted its modules or one failed; where that is not possible now, there is none."""
        if self._fork is not None and self._left:
            return
        if self._fork is not None:
            self._fork.close()
            self._fork = None
        reused = _Reused()
        with contextlib.suppress(OSError):  # such as EAGAIN: it would end this process
            self._fork, self._left = ForkServer(_STAGE, reused.emitted, reused.prepare), _MODULES_PER_FORK

    def emitted(self, code: bytes) -> bytes:
        """Return the SPIR-V of a module; one that cannot be emitted by the fork gets one of its own, which says why.

        Raises:
            CompileFailed: as `emit_spirv`.
        """
        if self._fork is None:
            return _emitted_alone(code)
        self._left -= 1
        try:
            return self._fork.run(code)
        except (ForkServerEnded, CompileFailed):
            self._left = 0
            return _emitted_alone(code)


class _Reused:
    """Emission of modules in one process, each on a thread with a new heap."""

    def __init__(self) -> None:
        self._heaps: OwnHeaps | None = None

    def prepare(self) -> None:
        """Create what the next module needs; the first time, make the process quiet."""
        if self._heaps is None:
            self._heaps = OwnHeaps()
            # What LLVM prints before an error ends it is printed by the fork that repeats it.
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 2)
            os.close(silent)
        self._thread = self._heaps.thread()
        self._target = self._thread.submit(_Target).result()

    def emitted(self, code: bytes) -> bytes:
        _limit_cpu(_REUSED_CPU_LIMIT_S)
        return self._thread.submit(self._target.emitted, code).result()


def _limit_cpu(seconds: int) -> None:
    """Limit this process to so many more seconds of processor time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    limit = int(used.ru_utime + used.ru_stime) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))


def _emitted(code: bytes, meanwhile: Callable[[], None]) -> bytes:
    for emitter in tuple(_emitters):
        try:
            return emitter.run(code, meanwhile)
        except ForkServerEnded:
            emitter.close()
            _emitters.clear()
    return _emitted_alone(code)


def _emitted_alone(code: bytes) -> bytes:
    return in_fork(_STAGE, _LLVM, lambda: _Target().emitted(code), _CPU_LIMIT_S)


def _checked(emitted: bytes) -> bytes:
    spirv = with_intrinsics(emitted)
    return group_cache_hints(spirv, check_spirv(spirv))


class _Target:
    """LLVM's target, for one module."""

    def __init__(self) -> None:
        self._context, self._machine = llvm.create_context(), target_machine()

    def emitted(self, code: bytes) -> bytes:
        module = llvm.parse_assembly(code.decode(), self._context)
        module.verify()
        return self._machine.emit_object(module)
