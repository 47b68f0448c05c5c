"""Kernels of a module: source, work-groups, signatures, and device limits."""
