"""Kernels of a module: source, work-groups, signatures, and what a device has room for."""
