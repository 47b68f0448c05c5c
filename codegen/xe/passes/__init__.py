"""Passes over XeTile and XeGPU: one a file, named as its flag."""
