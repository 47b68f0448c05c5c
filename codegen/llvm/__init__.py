"""LLVM IR of a kernel, from MLIR's bitcode to the text that is emitted and simulated."""

from codegen.llvm.optimise import OptimisedModule, optimise
from codegen.llvm.shared_memory import shared_bytes

__all__ = ["OptimisedModule", "optimise", "shared_bytes"]
