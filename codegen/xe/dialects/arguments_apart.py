"""The attribute that tells of memory that no two arguments of a kernel share."""

ARGUMENTS_APART = "xetune.arguments_apart"
"""On gpu.func: what the kernel writes through one argument is not read or written through another one."""
