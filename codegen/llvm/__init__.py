"""LLVM IR of a kernel, from MLIR's bitcode to the text that is emitted and simulated."""

from codegen.llvm.optimise import OptimisedModule, optimise

__all__ = ["OptimisedModule", "optimise"]
