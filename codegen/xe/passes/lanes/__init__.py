"""Lowering of sub-group-level XeGPU to per-lane code."""

from codegen.xe.passes.lanes.analysis.assumptions import assumptions_of
from codegen.xe.passes.lanes.lower_to_lanes import (
    LowerToLanesPass,
    lower_to_lanes,
)
from codegen.xe.passes.lanes.memory.named_barriers import named_barriers_of

__all__ = ["LowerToLanesPass", "assumptions_of", "lower_to_lanes", "named_barriers_of"]
