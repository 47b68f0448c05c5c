"""The attribute that marks the arguments of a kernel as not aliasing."""

ARGUMENTS_APART = "xetune.arguments_apart"
"""On gpu.func: memory written through one argument is not accessed through another."""
