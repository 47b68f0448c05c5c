"""Comparison of two kernels: differences, and their cost."""
