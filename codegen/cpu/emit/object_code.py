"""Optimisation and object code of a kernel's LLVM IR for x86-64 Linux: position independent ELF.

The code depends on the features that it is given and on nothing of the machine that makes it.
"""

from functools import cache

import llvmlite.binding as llvm

TRIPLE = "x86_64-unknown-linux-gnu"

# No chip is selected: scheduling models change little, as the writers already order instructions.
_CPU = "x86-64"

_OF_A_FILE = (".file", ".ident", ".addrsig", '.section\t".note.GNU-stack"')
_ESCAPES = str.maketrans({'"': "\\22", "\\": "\\5C"})


def optimise(text: str, features: tuple[str, ...]) -> llvm.ModuleRef:
    """Return optimised LLVM IR for a CPU with `features`, named as LLVM does.

    Raises:
        RuntimeError: the text is not valid LLVM IR.
    """
    module = llvm.parse_assembly(text)
    module.verify()
    module.triple, module.data_layout = TRIPLE, str(_machine(features).target_data)
    _optimise(module, features)
    return module


def emit_object(module: llvm.ModuleRef, features: tuple[str, ...]) -> bytes:
    """Return the object code of an optimised module; the same text gives the same bytes."""
    return _machine(features).emit_object(module)


def emit_assembly(module: llvm.ModuleRef, features: tuple[str, ...]) -> str:
    """Return the assembly of an optimised module, for readers."""
    return _machine(features).emit_assembly(module)


@cache
def compiled_part(name: str, text: str) -> str:
    """Compile functions shared by many modules once; return the lines of a module that hold their assembly, of any CPU.

    The module that is given them declares those that it calls. `name` tells the labels of one part from another's.

    Raises:
        RuntimeError: the text is not valid LLVM IR.
    """
    llvm.initialize_native_asmparser()
    lines = emit_assembly(optimise(text, ()), ()).replace(".L", f".L{name}_").splitlines()
    kept = (line for line in lines if line.strip() and not line.lstrip().startswith(_OF_A_FILE))
    return "\n".join(f'module asm "{line.translate(_ESCAPES)}"' for line in kept)


@cache
def _machine(features: tuple[str, ...]) -> llvm.TargetMachine:
    """Return the target machine of a set of features; cached, as creating one takes longer than a small module."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    named = ",".join(f"+{feature}" for feature in features)
    target = llvm.Target.from_triple(TRIPLE)
    return target.create_target_machine(_CPU, named, opt=2, reloc="pic", codemodel="default")


def _optimise(module: llvm.ModuleRef, features: tuple[str, ...]) -> None:
    """Run a few passes: the writers leave little to optimise, and code generation places addresses in loops."""
    builder = llvm.create_pass_builder(_machine(features), llvm.create_pipeline_tuning_options(speed_level=2))
    passes = llvm.create_new_module_pass_manager()
    passes.add_new_gvn_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)
