"""Sub-group-level XeGPU to per-lane code."""

from codegen.transforms.lanes.lower_to_lanes import LowerToLanesPass, lower_to_lanes

__all__ = ["LowerToLanesPass", "lower_to_lanes"]
