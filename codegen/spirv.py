"""The one door to LLVM's SPIR-V target.

The target keeps state from one module to the next: the second module that a process emits may define an id twice,
and an error ends the process. So every module is emitted by a fork of a process that never emitted one.
"""

import os
import resource
import signal
from typing import NoReturn

import llvmlite.binding as llvm

from codegen.errors import CompileFailed
from codegen.spirv_check import check_spirv

TRIPLE = "spirv64-unknown-unknown"

_STAGE = "spirv"
_SHOWN_CHARACTERS = 500
_CPU_LIMIT_S = 60
# Rounding f32 to bf16 needs the first; cache hints on loads and prefetches the second.
_EXTENSIONS = ",".join(
    (
        "+SPV_KHR_bfloat16",
        "+SPV_INTEL_cache_controls",
        "+SPV_EXT_shader_atomic_float_add",
        "+SPV_EXT_shader_atomic_float_min_max",
    )
)

llvm.set_option("", f"-spirv-ext={_EXTENSIONS}")
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()


def target_machine() -> llvm.TargetMachine:
    """A new machine: one machine emits one module.

    Its own optimisations are off, as they can drop a truncation; the IR it is given is optimised.
    """
    return llvm.Target.from_triple(TRIPLE).create_target_machine(opt=0)


def emit_spirv(text: str) -> bytes:
    """SPIR-V of LLVM IR text; the same bytes for the same text.

    Raises:
        CompileFailed: LLVM refused the text, ended the fork, or emitted a module that is not valid.
    """
    result, errors = os.memfd_create("spirv"), os.memfd_create("errors")
    try:
        child = os.fork()
        if child == 0:
            _emit(text, result, errors)
        _, status = os.waitpid(child, 0)
        if status != 0:
            code = os.waitstatus_to_exitcode(status)
            ended = f"LLVM ended with {signal.Signals(-code).name if code < 0 else f'exit status {code}'}"
            said = _content(errors).decode(errors="replace").strip()[:_SHOWN_CHARACTERS]
            raise CompileFailed(_STAGE, f"{ended}: {said}" if said else ended)
        spirv = _content(result)
    finally:
        os.close(result)
        os.close(errors)
    check_spirv(spirv)
    return spirv


def _emit(text: str, result: int, errors: int) -> NoReturn:
    """Runs in the fork, which must not return to the caller's code."""
    status = 1
    try:
        os.dup2(errors, 2)
        # The worker may be ended while this runs, and nobody would end this.
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_LIMIT_S, _CPU_LIMIT_S))
        module = llvm.parse_assembly(text)
        module.verify()
        spirv = memoryview(target_machine().emit_object(module))
        while spirv:
            spirv = spirv[os.write(result, spirv) :]
        status = 0
    except (RuntimeError, OSError, MemoryError) as error:
        os.write(errors, f"{error}".encode())
    finally:
        os._exit(status)


def _content(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)
