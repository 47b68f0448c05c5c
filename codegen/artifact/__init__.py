"""Compiled kernels: stages, launch recipe, manifest and stored form."""
