"""The only interface to LLVM's SPIR-V target.

The target keeps state between modules: the second module that a process emits may define an id twice, and an
error ends the process. So every module is emitted by a fork of a process that never emitted one. A process
that emits many starts an emitter while it is small.
"""

import llvmlite.binding as llvm

from codegen.workers.fork import in_fork
from codegen.workers.fork_server import (
    ForkServer,
    ForkServerEnded,
)
from codegen.xe.nbarrier_intrinsics import with_intrinsics
from codegen.xe.spirv_cache_hints import group_cache_hints
from codegen.xe.spirv_check import check_spirv

TRIPLE = "spirv64-unknown-unknown"

_STAGE, _LLVM = "spirv", "LLVM"
_CPU_LIMIT_S = 60
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


def emit_spirv(text: str) -> bytes:
    """Compile LLVM IR text to SPIR-V; deterministic.

    Raises:
        CompileFailed: LLVM rejected the text, aborted, or emitted an invalid module.
    """
    spirv = with_intrinsics(_emitted(text.encode()))
    check_spirv(spirv)
    return group_cache_hints(spirv)


def start_emitter() -> ForkServer:
    """Fork this process now as the server from which later `emit_spirv` calls fork."""
    _emitters[:] = [ForkServer(_STAGE, _LLVM, _emit, _CPU_LIMIT_S)]
    return _emitters[0]


_emitters: list[ForkServer] = []


def _emitted(text: bytes) -> bytes:
    for emitter in tuple(_emitters):
        try:
            return emitter.run(text)
        except ForkServerEnded:
            emitter.close()
            _emitters.clear()
    return in_fork(_STAGE, _LLVM, lambda: _emit(text), _CPU_LIMIT_S)


def _emit(text: bytes) -> bytes:
    module = llvm.parse_assembly(text.decode())
    module.verify()
    return target_machine().emit_object(module)
