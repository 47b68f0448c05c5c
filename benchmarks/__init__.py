"""Benchmarks: each prints one table of ratios or times taken in one run."""
