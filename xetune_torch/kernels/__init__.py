"""Kernels of XeTune that are called with tensors."""
