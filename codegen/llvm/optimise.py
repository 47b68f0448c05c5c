"""MLIR's bitcode to the final LLVM IR text of a kernel."""

import llvmlite.binding as llvm

from codegen.llvm.bare_pointers import bare_pointers, name_arguments
from codegen.llvm.private_memory import align_private_memory
from codegen.llvm.wide_vectors import split_wide_vectors
from codegen.spirv import TRIPLE, target_machine


def optimise(bitcode: bytes, kernel: str, operands: tuple[str, ...]) -> str:
    """Optimise at O2, keep only the pointers of `operands` as parameters, and split wide vectors.

    Raises:
        CompileFailed: the IR is not of the shape these steps know.
    """
    module = llvm.parse_bitcode(bitcode)
    machine = target_machine()
    module.triple, module.data_layout = TRIPLE, str(machine.target_data)
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes.getModulePassManager().run(module, passes)
    name_arguments(module.get_function(kernel), operands)
    return split_wide_vectors(align_private_memory(bare_pointers(str(module), kernel)))
