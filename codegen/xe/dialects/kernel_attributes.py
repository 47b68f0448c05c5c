"""Attributes that builders of kernels set for the passes that lower them."""

ACCESSES_INSIDE = "xetune.accesses_inside"
"""On a gpu.func: blocks lie inside their matrices, so that lanes need not compare their coordinates."""

ARGUMENTS_APART = "xetune.arguments_apart"
"""On gpu.func: memory written through one argument is not accessed through another."""

EXTENTS = "xetune.extents"
"""On gpu.func: the scalar arguments of `EXTENT_NAMES` are extents of a problem, from 1 to MAX_DIMENSION."""

EXTENT_NAMES = ("m", "n", "k")

LANE_ACCESS = "xetune.lane_access"
"""On init_tile and create_nd_tdesc: the matrix may break the rules of block messages; lanes access its elements."""

WORK_ITEMS = "xetune.work_items"
"""On gpu.func: values are those of one work-item, and operations of XeGPU take its fragments of blocks."""
