"""Analyses of sub-group-level kernels."""
