"""The one door to MLIR's bindings."""

from codegen.mlir.pipeline import XeGpuModule

__all__ = ["XeGpuModule"]
