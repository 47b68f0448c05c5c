"""LLVM IR of a kernel, from MLIR's bitcode to the text that is emitted and simulated."""

from codegen.llvm.optimise import optimise

__all__ = ["optimise"]
