"""The one door to MLIR's bindings."""

from codegen.mlir.pipeline import Lowered, lower_xegpu

__all__ = ["Lowered", "lower_xegpu"]
