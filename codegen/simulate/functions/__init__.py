"""Built-in functions that kernels call."""
