"""The one door to MLIR's bindings."""

from codegen.xe.mlir.pipeline import XeGpuModule

__all__ = ["XeGpuModule"]
