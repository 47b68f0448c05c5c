"""The attribute that says that a kernel accesses no matrix beyond its edges."""

ACCESSES_INSIDE = "xetune.accesses_inside"
"""On a gpu.func: blocks lie inside their matrices, so that lanes need not compare their coordinates."""
