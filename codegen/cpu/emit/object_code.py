"""LLVM IR text of a kernel to optimised text and to object code for x86-64 Linux: position independent, ELF.

The code depends on the features that it is given and on nothing of the machine that makes it.
"""

from functools import cache

import llvmlite.binding as llvm

TRIPLE = "x86_64-unknown-linux-gnu"

# Chips are not named: their scheduling models change little of what is written with its order in mind.
_CPU = "x86-64"

_OF_A_FILE = (".file", ".ident", ".addrsig", '.section\t".note.GNU-stack"')
_ESCAPES = str.maketrans({'"': "\\22", "\\": "\\5C"})


def optimise(text: str, features: tuple[str, ...]) -> llvm.ModuleRef:
    """Optimised LLVM IR, for a CPU with `features`, named as LLVM does.

    Raises:
        RuntimeError: the text is not valid LLVM IR.
    """
    module = llvm.parse_assembly(text)
    module.verify()
    module.triple, module.data_layout = TRIPLE, str(_machine(features).target_data)
    _optimise(module, features)
    return module


def emit_object(module: llvm.ModuleRef, features: tuple[str, ...]) -> bytes:
    """Object code of an optimised module; the same bytes for the same text."""
    return _machine(features).emit_object(module)


def emit_assembly(module: llvm.ModuleRef, features: tuple[str, ...]) -> str:
    """The same as assembly, to be read."""
    return _machine(features).emit_assembly(module)


@cache
def compiled_part(name: str, text: str, features: tuple[str, ...]) -> str:
    """Functions that many modules carry as they are: lines of a module that hold their assembly, compiled once.

    The module that is given them declares those that it calls. `name` tells the labels of one part from another's.

    Raises:
        RuntimeError: the text is not valid LLVM IR.
    """
    llvm.initialize_native_asmparser()
    lines = emit_assembly(optimise(text, features), features).replace(".L", f".L{name}_").splitlines()
    kept = (line for line in lines if line.strip() and not line.lstrip().startswith(_OF_A_FILE))
    return "\n".join(f'module asm "{line.translate(_ESCAPES)}"' for line in kept)


@cache
def _machine(features: tuple[str, ...]) -> llvm.TargetMachine:
    """One machine for each set of features: making one takes longer than a small module does."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    named = ",".join(f"+{feature}" for feature in features)
    target = llvm.Target.from_triple(TRIPLE)
    return target.create_target_machine(_CPU, named, opt=2, reloc="pic", codemodel="default")


def _optimise(module: llvm.ModuleRef, features: tuple[str, ...]) -> None:
    """Few passes: the writers leave little to do, and code generation places addresses in loops by itself."""
    builder = llvm.create_pass_builder(_machine(features), llvm.create_pipeline_tuning_options(speed_level=2))
    passes = llvm.create_new_module_pass_manager()
    passes.add_new_gvn_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)
