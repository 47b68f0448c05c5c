"""Measuring kits: one file that measures kernels on a machine with Python, numpy and pyopencl alone."""
