"""Verification of a kernel's outputs against numpy float64."""
