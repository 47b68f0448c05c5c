"""The attribute that marks the arguments of a kernel as not aliasing."""

ARGUMENTS_APART = "xetune.arguments_apart"
"""On gpu.func: what the kernel writes through one argument is not read or written through another one."""
