"""Kernels: the list, and a kernel with its stages."""
