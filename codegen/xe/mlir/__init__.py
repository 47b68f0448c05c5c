"""The only interface to MLIR's bindings."""

from codegen.xe.mlir.module import MlirModule

__all__ = ["MlirModule"]
