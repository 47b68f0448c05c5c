"""LLVM IR of a kernel: from the text that MLIR prints to the text that is compiled to SPIR-V and simulated."""

from codegen.xe.llvm.optimise import (
    OptimisedModule,
    optimise,
)
from codegen.xe.llvm.payloads import Prefetches
from codegen.xe.llvm.shared_memory import shared_bytes

__all__ = ["OptimisedModule", "Prefetches", "optimise", "shared_bytes"]
