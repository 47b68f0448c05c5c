"""The one door to LLVM's SPIR-V target. It can end the process: compile in workers."""

import llvmlite.binding as llvm

TRIPLE = "spirv64-unknown-unknown"

# Rounding f32 to bf16 needs the first; cache hints on loads and prefetches the second.
_EXTENSIONS = "+SPV_KHR_bfloat16,+SPV_INTEL_cache_controls"

llvm.set_option("", f"-spirv-ext={_EXTENSIONS}")
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()


def target_machine() -> llvm.TargetMachine:
    """A new machine: emitting a second object with one crashes."""
    return llvm.Target.from_triple(TRIPLE).create_target_machine(opt=2)


def emit_spirv(text: str) -> bytes:
    """SPIR-V of LLVM IR text.

    Raises:
        RuntimeError: the text does not parse or verify; the message is LLVM's.
    """
    module = llvm.parse_assembly(text)
    module.verify()
    return target_machine().emit_object(module)
