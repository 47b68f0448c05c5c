"""The attribute that marks a kernel as written for work-items."""

WORK_ITEMS = "xetune.work_items"
"""On gpu.func: values are those of one work-item, and operations of XeGPU take its fragments of blocks."""
