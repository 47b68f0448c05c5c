"""Queries on results: kernels and their binaries, trials, times, predictions, and their reuse."""
